<?php
/**
 * Tells whether all that a WP-CLI command wrote to the database is housekeeping, such as the results of a check for updates, so
 * that cached pages can stay. If PHP ends without telling, it counts as a change.
 */

require_once __DIR__ . '/writes.php';

final class Sitewright_Housekeeping {
	/** The option that WordPress is saving, or null. */
	private static ?string $option = null;
	private static bool $is_all = true;
	/** Whether any statement has written. Others past WordPress, which may have, are not seen here. */
	private static bool $has_seen = false;

	public static function watch(): void {
		foreach ( array( 'update_option', 'add_option', 'delete_option' ) as $hook ) {
			sitewright_hook( $hook, static fn( $name ) => self::$option = (string) $name );
		}
		foreach ( array( 'updated_option', 'added_option', 'deleted_option' ) as $hook ) {
			sitewright_hook( $hook, static fn() => self::$option = null );
		}
		foreach ( array( 'cache flush', 'transient delete', 'transient set' ) as $command ) {
			// Whoever runs these wants pages to follow, although they look like housekeeping.
			WP_CLI::add_hook( "after_invoke:$command", static fn() => do_action( 'sitewright_purge_all' ) );
		}
		sitewright_hook( 'mysql_statement', array( self::class, 'see' ) );
		register_shutdown_function( array( self::class, 'tell' ) );
	}

	public static function see( string $statement ): void {
		foreach ( sitewright_written_tables( $statement ) as $table ) {
			$is_option      = 'options' === $table && null !== self::$option && sitewright_is_ignored( SITEWRIGHT_IGNORED_OPTIONS, self::$option );
			self::$option   = null;
			self::$has_seen = true;
			self::$is_all   = self::$is_all && ( $is_option || sitewright_is_ignored( SITEWRIGHT_IGNORED_TABLES, $table ) );
		}
	}

	public static function tell(): void {
		if ( self::$has_seen && self::$is_all ) {
			post_message_to_js( '{"sitewright":"housekeeping"}' );
		}
	}
}
