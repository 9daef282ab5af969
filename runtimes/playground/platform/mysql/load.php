<?php
/**
 * A layer over the driver `WP_MySQL_On_SQLite`, which makes it answer more like MySQL. It uses only what the driver offers
 * to subclasses and callers:
 *
 * - `functions/`: functions of MySQL, registered with SQLite when a statement uses them.
 * - `rules/`: changes to the parsed statement, before the driver translates it.
 * - `statements/`: statements that the driver refuses.
 *
 * Load the driver first. The rest is loaded when it is needed.
 */

require_once __DIR__ . '/driver.php';
require_once __DIR__ . '/functions.php';
require_once __DIR__ . '/parser.php';
require_once __DIR__ . '/rewriter.php';
require_once __DIR__ . '/statements.php';
