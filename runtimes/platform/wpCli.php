<?php
/** WP-CLI loads this file before WordPress: what the platform changes and adds there. */

require __DIR__ . '/wpCliDeprecations.php';
require __DIR__ . '/wpCliAdminContext.php';
require __DIR__ . '/wpCliLoading.php';
require __DIR__ . '/wpCliDropIns.php';
require __DIR__ . '/wpCliConfig.php';
require __DIR__ . '/wpCliDatabase.php';
require __DIR__ . '/wpCliHousekeeping.php';

/**
 * Sends WP-CLI's own requests to WordPress.org, such as those for checksums, to the package source. Without one, they fail at
 * once.
 */
function sitewright_wp_cli_request_options( array $options ): array {
	$source = sitewright_package_source();
	if ( 'https://api.wordpress.org' === $source ) {
		return $options;
	}
	$options['hooks'] ??= new WpOrg\Requests\Hooks();
	$options['hooks']->register(
		'requests.before_request',
		static function ( &$url ) use ( $source ) {
			$target = sitewright_package_url( (string) $url, $source ?? 'https://api.wordpress.org' );
			if ( null !== $target && null === $source ) {
				throw new WpOrg\Requests\Exception( 'This installation has no package source.', 'no_package_source' );
			}
			$url = $target ?? $url;
		}
	);
	return $options;
}

WP_CLI::add_hook( 'http_request_options', 'sitewright_wp_cli_request_options' );
WP_CLI::add_hook(
	'before_registering_contexts',
	static fn( $contexts ) => array( 'admin' => new Sitewright_Admin_Context() ) + $contexts
);
Sitewright_Housekeeping::watch();
Sitewright_Config_Comment::watch();
WP_CLI::add_command( 'dropin', 'Sitewright_Drop_In_Command' );
foreach ( Sitewright_Database_Command::COMMANDS as $sitewright_name => $sitewright_arguments ) {
	$sitewright_callable = array( new Sitewright_Database_Command(), $sitewright_name );
	// WP-CLI runs its own commands for databases before WordPress.
	WP_CLI::add_command( "db $sitewright_name", $sitewright_callable, array( 'when' => 'after_wp_load' ) + $sitewright_arguments );
}
