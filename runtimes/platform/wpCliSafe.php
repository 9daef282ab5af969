<?php
/** WP-CLI loads this file before WordPress to leave out drop-ins and must-use plugins, see wpCliLoading.php. */

$sitewright_loads = array(
	'enable_loading_object_cache_dropin',
	'enable_loading_advanced_cache_dropin',
	'wp_fatal_error_handler_enabled',
);
foreach ( $sitewright_loads as $sitewright_name ) {
	// WordPress's own __return_false does not exist yet.
	WP_CLI::add_wp_hook( $sitewright_name, static fn() => false, 999 );
}
WP_CLI::add_hook(
	'before_wp_load',
	static function () {
		$files = implode( ', ', Sitewright_Loading::left_out() );
		WP_CLI::warning( "WordPress could not be loaded, so the command runs without these files of wp-content: $files." );
	}
);
WP_CLI::add_hook(
	'after_wp_config_load',
	static fn() => defined( 'WPMU_PLUGIN_DIR' ) || define( 'WPMU_PLUGIN_DIR', __DIR__ . '/none' )
);
