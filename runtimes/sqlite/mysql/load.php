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
namespace WP_MySQL_Layer;

require_once __DIR__ . '/columns.php';
require_once __DIR__ . '/connection.php';
require_once __DIR__ . '/digitTriggers.php';
require_once __DIR__ . '/driver.php';
require_once __DIR__ . '/functions.php';
require_once __DIR__ . '/parser.php';
require_once __DIR__ . '/rewriter.php';
require_once __DIR__ . '/statements.php';
require_once __DIR__ . '/textTriggers.php';
require_once __DIR__ . '/transactions.php';
require_once __DIR__ . '/translations.php';
require_once __DIR__ . '/tree.php';

/** Returns the name of a class's file, without its folder: that of `Text_Forms` is `textForms.php`. */
function file_of( string $class ): string {
	return lcfirst( str_replace( '_', '', substr( $class, strlen( __NAMESPACE__ ) + 1 ) ) ) . '.php';
}

// Classes that few statements need. Rules and statements are loaded by those who use them.
spl_autoload_register(
	static function ( string $class ): void {
		if ( ! str_starts_with( $class, __NAMESPACE__ . '\\' ) ) {
			return;
		}
		$file    = file_of( $class );
		$values  = [ 'calendar.php', 'dateForms.php', 'dateFormat.php', 'dateReader.php', 'json.php', 'jsonPath.php', 'members.php', 'number.php', 'temporal.php' ];
		$helpers = [ 'assignedColumns.php', 'collate.php', 'comparisons.php', 'dateNumbers.php', 'intervals.php', 'jsonParts.php', 'knownResults.php', 'largeNumbers.php', 'literals.php', 'memberNumbers.php', 'textForms.php', 'unit.php', 'userVariables.php' ];
		$others  = [ 'column.php' => 'columns.php', 'fragment.php' => 'tree.php', 'mysqliConnection.php' => 'mysqli.php' ];
		$folder  = in_array( $file, $values, true ) ? 'values/' : ( in_array( $file, $helpers, true ) ? 'rules/' : '' );
		require_once __DIR__ . "/$folder" . ( $others[ $file ] ?? $file );
	}
);
