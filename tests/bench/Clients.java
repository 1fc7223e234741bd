// SPDX-License-Identifier: GPL-3.0-or-later
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

// A database in memory (HSQLDB) under clients: each has a connection, and inserts, changes and reads rows of
// its own. Prints what is in the table in the end, which does not depend on who was first, and on standard
// error the seconds that this took.
class Clients {
	static final String URL = "jdbc:hsqldb:mem:bench";

	static void client(int number, int transactions) throws SQLException {
		try (Connection c = DriverManager.getConnection(URL, "SA", "");
				PreparedStatement add = c.prepareStatement("INSERT INTO account VALUES (?, ?)");
				PreparedStatement change = c.prepareStatement(
						"UPDATE account SET balance = balance + ? WHERE id = ?");
				PreparedStatement read = c.prepareStatement("SELECT balance FROM account WHERE id = ?")) {
			for (int i = 0; i < transactions; i++) {
				int id = number * transactions + i;

				add.setInt(1, id);
				add.setInt(2, i);
				add.executeUpdate();
				change.setInt(1, 7);
				change.setInt(2, id - i / 2);
				change.executeUpdate();
				read.setInt(1, id);
				try (ResultSet r = read.executeQuery()) {
					r.next();
				}
			}
		}
	}

	public static void main(String[] args) throws Exception {
		int clients = Integer.parseInt(args[0]), transactions = Integer.parseInt(args[1]);
		Thread[] threads = new Thread[clients];
		long start;

		try (Connection c = DriverManager.getConnection(URL, "SA", ""); Statement s = c.createStatement()) {
			s.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER)");
			start = System.nanoTime();
			for (int i = 0; i < clients; i++) {
				int number = i;

				threads[i] = new Thread(() -> {
					try {
						client(number, transactions);
					} catch (SQLException e) {
						throw new IllegalStateException(e);
					}
				}, "client-" + i);
				threads[i].start();
			}
			for (Thread t : threads)
				t.join();
			System.err.println("seconds " + (System.nanoTime() - start) / 1e9);
			try (ResultSet r = s.executeQuery("SELECT COUNT(*), SUM(balance), SUM(id * balance / 3) FROM account")) {
				r.next();
				System.out.println("rows " + r.getLong(1) + " sum " + r.getLong(2) + " " + r.getLong(3));
			}
		}
	}
}
