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

/** Tells who logs in. A name that no user has may be a mistyped password, so it is not told. */
function sitewright_report_login_user( $name ): void {
	$user = is_string( $name ) ? ( get_user_by( 'login', $name ) ?: get_user_by( 'email', $name ) ) : false;
	if ( $user && ! headers_sent() ) {
		header( 'X-Sitewright-Login-User: ' . rawurlencode( $user->user_login ) );
	}
}

// Of forms and XML-RPC, and of application passwords.
sitewright_hook(
	'wp_login_failed',
	static function ( $name ) {
		sitewright_report_login( 'failed' );
		sitewright_report_login_user( $name );
	},
	1
);
sitewright_hook(
	'wp_login',
	static function ( $name ) {
		sitewright_report_login( 'succeeded' );
		sitewright_report_login_user( $name );
	},
	1
);
sitewright_hook( 'application_password_failed_authentication', static fn () => sitewright_report_login( 'failed' ), 1 );
sitewright_hook( 'application_password_did_authenticate', static fn () => sitewright_report_login( 'succeeded' ), 1 );

if ( isset( $_SERVER['HTTP_X_SITEWRIGHT_LOGINS'] ) ) {
	sitewright_hook( 'wp_is_application_passwords_available', static fn () => false, PHP_INT_MAX );
	sitewright_hook(
		'authenticate',
		static fn () => new WP_Error(
			'sitewright_logins_refused',
			'<strong>Error:</strong> Too many failed logins from your IP address. Please try again in a few minutes.'
		),
		PHP_INT_MAX
	);
}
