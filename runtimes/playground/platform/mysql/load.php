<?php
/**
 * A layer over the driver `WP_MySQL_On_SQLite`, which makes it answer more like MySQL. It uses only what the driver offers
 * to subclasses and callers:
 *
 * - `functions/`: functions of MySQL, registered with SQLite when a statement uses them.
 * - `rules/`: changes to the parsed statement, before the driver translates it.
 * - `statements/`: statements that the driver refuses or answers incompletely.
 * - `transactions.php`: what an error, a definition and another session mean to a transaction.
 *
 * Load the driver first. The rest is loaded when it is needed.
 */

require_once __DIR__ . '/columns.php';
require_once __DIR__ . '/connection.php';
require_once __DIR__ . '/driver.php';
require_once __DIR__ . '/functions.php';
require_once __DIR__ . '/parser.php';
require_once __DIR__ . '/rewriter.php';
require_once __DIR__ . '/statements.php';
require_once __DIR__ . '/textTriggers.php';
require_once __DIR__ . '/transactions.php';

// Classes that few statements need.
spl_autoload_register(
	static function ( string $class ): void {
		$files = [
			'Binary_Columns' => 'binaryColumns',
			'Collations'     => 'collations',
			'Errors'         => 'errors',
			'Field_Definition' => 'fieldDefinition',
			'Letters'        => 'letters',
			'Listing'        => 'listing',
			'Mysqli_Connection' => 'mysqli',
			'Placeholders'   => 'placeholders',
			'Prepared_Statement' => 'preparedStatement',
			'Schema'         => 'schema',
			'Select_Columns' => 'selectColumns',
			'Server_Tables'  => 'serverTables',
			'Table'          => 'table',
			'Variables'      => 'variables',
		];
		$file  = $files[ substr( $class, strlen( 'WP_MySQL_Layer\\' ) ) ] ?? null;
		if ( null !== $file && str_starts_with( $class, 'WP_MySQL_Layer\\' ) ) {
			require_once __DIR__ . "/$file.php";
		}
	}
);
