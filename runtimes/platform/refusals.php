<?php
/** Tells the owner, when a plugin is activated, which of its statements the database refused because it is SQLite. */

const SITEWRIGHT_REFUSALS = 'sitewright_refused_statements';

function sitewright_refusals_text( string $plugin, array $refusals ): string {
	return sprintf(
		'%s sent statements that the database of this site cannot run, so parts of it may not work (%s). If you need them, '
			. 'move the site to a host with MySQL or MariaDB: the download of the site contains a dump for both.',
		$plugin,
		implode( '; ', $refusals )
	);
}

function sitewright_note_refusals( $plugin ) {
	global $wpdb;
	$refusals = method_exists( $wpdb, 'refusals' ) ? $wpdb->refusals() : array();
	if ( array() === $refusals ) {
		return;
	}
	$text = sitewright_refusals_text( (string) $plugin, $refusals );
	if ( defined( 'WP_CLI' ) && WP_CLI ) {
		WP_CLI::warning( $text );
	}
	set_transient( SITEWRIGHT_REFUSALS, $text, HOUR_IN_SECONDS );
}

function sitewright_show_refusals() {
	$text = current_user_can( 'activate_plugins' ) ? get_transient( SITEWRIGHT_REFUSALS ) : false;
	if ( is_string( $text ) ) {
		delete_transient( SITEWRIGHT_REFUSALS );
		printf( '<div class="notice notice-warning is-dismissible"><p>%s</p></div>', esc_html( $text ) );
	}
}

sitewright_hook( 'activated_plugin', 'sitewright_note_refusals', PHP_INT_MAX );
sitewright_hook( 'admin_notices', 'sitewright_show_refusals' );
