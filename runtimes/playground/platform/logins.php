<?php
/**
 * Tells the edge the outcome of logins, in a header that it removes, and refuses logins if the edge says so: after too many
 * failures it knows, but forms of plugins, such as a shop's, look like any other request to it.
 */

/** A failure counts, even if the request tries another password afterwards. */
function sitewright_report_login( string $outcome ): void {
	static $has_failed = false;
	$has_failed = $has_failed || 'failed' === $outcome;
	if ( ! headers_sent() ) {
		header( 'X-Sitewright-Login: ' . ( $has_failed ? 'failed' : $outcome ) );
	}
}

// Of forms and XML-RPC, and of application passwords.
foreach ( array( 'wp_login_failed', 'application_password_failed_authentication' ) as $hook ) {
	sitewright_hook( $hook, static fn () => sitewright_report_login( 'failed' ), 1 );
}
foreach ( array( 'wp_login', 'application_password_did_authenticate' ) as $hook ) {
	sitewright_hook( $hook, static fn () => sitewright_report_login( 'succeeded' ), 1 );
}

if ( isset( $_SERVER['HTTP_X_SITEWRIGHT_LOGINS'] ) ) {
	sitewright_hook(
		'authenticate',
		static fn () => new WP_Error(
			'sitewright_logins_refused',
			'<strong>Error:</strong> Too many failed logins from your IP address. Please try again in a few minutes.'
		),
		PHP_INT_MAX
	);
}
