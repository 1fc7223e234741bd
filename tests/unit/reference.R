# SPDX-License-Identifier: GPL-3.0-or-later
# What R's lm says of the problems in a file, one number a line, for tests that compare.
#	reference.R lines FILE	[columns, n, y, columns]... -> [residual degrees, [coefficient, its standard error] of intercept and columns]...
#	reference.R select FILE	[columns, n, y, columns]... -> [terms, r2, [column, F, p, beta]...]...
# BLESS=1 tests/run regression keeps its answers in reference.lines and reference.select.
# What lm does not have is NaN. Forward selection is add1's with its F test, at 0.05; of columns that
# explain the same the first.
args <- commandArgs(trailingOnly = TRUE)
values <- scan(args[2], quiet = TRUE)

put <- function(numbers) {
	numbers[is.na(numbers)] <- NaN
	cat(sprintf("%.17g\n", numbers), sep = "")
}

lines <- function(d) {
	fit <- lm(y ~ ., d)
	se <- coef(suppressWarnings(summary(fit)))[, "Std. Error"]
	put(c(fit$df.residual, rbind(coef(fit), se[names(coef(fit))])))
}

select <- function(d) {
	chosen <- character()
	f <- p <- beta <- numeric()
	fit <- lm(y ~ 1, d)
	while (length(chosen) + 2 < nrow(d) && length(chosen) + 1 < ncol(d)) {
		others <- setdiff(names(d)[-1], chosen)
		step <- suppressWarnings(add1(fit, reformulate(c(chosen, others)), test = "F"))[others, ]
		f_of <- step[["F value"]]
		best <- which(f_of > max(f_of, 0, na.rm = TRUE) * (1 - 1e-9))[1]
		if (is.na(best) || step[best, "Pr(>F)"] > 0.05) break
		chosen <- c(chosen, others[best])
		f <- c(f, f_of[best])
		p <- c(p, step[best, "Pr(>F)"])
		fit <- lm(reformulate(chosen, "y"), d)
	}
	if (length(chosen)) {
		unit <- as.data.frame(scale(d[c("y", chosen)]))
		beta <- coef(lm(reformulate(chosen, "y"), unit))[-1]
	}
	put(c(length(chosen), summary(fit)$r.squared))
	put(rbind(as.numeric(substring(chosen, 2)) - 1, f, p, beta))
}

answer <- list(lines = lines, select = select)[[args[1]]]
at <- 0
while (at < length(values)) {
	m <- values[at + 1]
	n <- values[at + 2]
	d <- as.data.frame(matrix(values[at + 2 + seq_len(n + m * n)], n))
	answer(setNames(d, c("y", paste0("x", seq_len(m)))))
	at <- at + 2 + n + m * n
}
