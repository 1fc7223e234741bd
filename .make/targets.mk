# SPDX-License-Identifier: GPL-3.0-or-later
# Everything but compiling.
.PHONY: clean deps
deps:
	@.make/deps install

clean:
	rm -rf build ispot
