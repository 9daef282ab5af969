<?php
/**
 * Tells whether all that a WP-CLI command wrote to the database is housekeeping, such as the results of a check for updates, so
 * that cached pages can stay. If PHP ends without telling, it counts as a change.
 */

require_once __DIR__ . '/writes.php';

/**
 * Shorter than the lists for requests of visitors (`irrelevant.php`): an option that plugins count in may be what somebody sets
 * with WP-CLI, because the theme shows it.
 */
const SITEWRIGHT_HOUSEKEEPING_OPTIONS = array( '_transient_*', '_site_transient_*', 'cron', 'doing_cron', '*.lock' );
const SITEWRIGHT_HOUSEKEEPING_TABLES  = array( 'actionscheduler_*', 'woocommerce_sessions', 'woocommerce_log' );

final class Sitewright_Housekeeping {
	/** The option that WordPress is saving, or null. */
	private static ?string $option = null;
	private static bool $is_all = true;
	/** Whether any statement has written. Writes that bypass WordPress are not seen here. */
	private static bool $has_seen = false;

	public static function watch(): void {
		foreach ( array( 'update_option', 'add_option', 'delete_option' ) as $hook ) {
			sitewright_hook( $hook, static fn( $name ) => self::$option = (string) $name );
		}
		foreach ( array( 'updated_option', 'added_option', 'deleted_option' ) as $hook ) {
			sitewright_hook( $hook, static fn() => self::$option = null );
		}
		foreach ( array( 'cache flush', 'transient delete', 'transient set' ) as $command ) {
			// People run these to refresh pages, although they look like housekeeping.
			WP_CLI::add_hook( "after_invoke:$command", static fn() => do_action( 'sitewright_purge_all' ) );
		}
		foreach ( array( 'eval', 'eval-file', 'shell' ) as $command ) {
			// Any code may write to the database without WordPress.
			WP_CLI::add_hook( "before_invoke:$command", static fn() => self::$is_all = false );
		}
		sitewright_hook( 'mysql_statement', array( self::class, 'see' ) );
		register_shutdown_function( array( self::class, 'tell' ) );
	}

	public static function see( string $statement ): void {
		// Which tables it writes to is in another statement.
		if ( in_array( strtolower( strtok( ltrim( $statement ), " \t\n(" ) ?: '' ), array( 'execute', 'call' ), true ) ) {
			self::$has_seen = true;
			self::$is_all   = false;
			return;
		}
		foreach ( sitewright_written_tables( $statement ) as $table ) {
			$is_option      = 'options' === $table && null !== self::$option && sitewright_is_ignored( SITEWRIGHT_HOUSEKEEPING_OPTIONS, self::$option );
			self::$option   = null;
			self::$has_seen = true;
			self::$is_all   = self::$is_all && ( $is_option || sitewright_is_ignored( SITEWRIGHT_HOUSEKEEPING_TABLES, $table ) );
		}
	}

	public static function tell(): void {
		if ( self::$has_seen && self::$is_all ) {
			sitewright_tell( array( 'sitewright' => 'housekeeping' ) );
		}
	}
}
