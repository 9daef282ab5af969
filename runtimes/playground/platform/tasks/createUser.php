<?php
/**
 * Makes an administrator, in a network one of all of it. Nobody is told the password, and no mail is sent: whoever it is for
 * comes in by a login link, or asks WordPress for a new password.
 */

require __DIR__ . '/../task.php';
require '/site/wp-load.php';

/** From what stands before the @, of letters and digits only, as networks want it. */
function sitewright_free_login( string $email ): string {
	$base = substr( preg_replace( '/[^a-z0-9]/', '', strtolower( strstr( $email, '@', true ) ) ), 0, 40 );
	if ( ! preg_match( '/[a-z]/', $base ) ) {
		$base = "user$base";
	}
	$refused = array_map( 'strtolower', (array) apply_filters( 'illegal_user_logins', [] ) );
	$login   = $base;
	for ( $number = 2; username_exists( $login ) || in_array( $login, $refused, true ); $number++ ) {
		$login = $base . $number;
	}
	return $login;
}

/** Whether the user is what was asked for, whatever plugins have made of it. */
function sitewright_is_administrator( int $id ): bool {
	clean_user_cache( $id );
	$user = get_userdata( $id );
	if ( ! $user || ! in_array( 'administrator', $user->roles, true ) ) {
		return false;
	}
	return ! is_multisite() || is_super_admin( $id );
}

function sitewright_remove_user( int $id ): void {
	require_once ABSPATH . 'wp-admin/includes/user.php';
	if ( is_multisite() ) {
		require_once ABSPATH . 'wp-admin/includes/ms.php';
		wpmu_delete_user( $id );
	} else {
		wp_delete_user( $id );
	}
}

function sitewright_create_user( array $wish ): array {
	// WordPress itself looks for it with the slashes that it wants to be given, and overlooks an apostrophe.
	if ( email_exists( $wish['email'] ) ) {
		return [ 'refused' => 'exists' ];
	}
	$id = wp_insert_user(
		wp_slash(
			[
				'user_login' => sitewright_free_login( $wish['email'] ),
				'user_pass'  => wp_generate_password( 64, false ),
				'user_email' => $wish['email'],
				'first_name' => $wish['firstName'],
				'last_name'  => $wish['lastName'],
				'role'       => 'administrator',
			]
		)
	);
	if ( is_wp_error( $id ) && 'existing_user_email' === $id->get_error_code() ) {
		return [ 'refused' => 'exists' ];
	}
	if ( is_wp_error( $id ) ) {
		return [ 'failed' => $id->get_error_message() ];
	}
	if ( is_multisite() ) {
		do_action( 'wpmu_new_user', $id );
		grant_super_admin( $id );
	}
	if ( ! sitewright_is_administrator( $id ) ) {
		sitewright_remove_user( $id );
		return [ 'failed' => 'Something in the site keeps new users from becoming administrators.' ];
	}
	return [ 'created' => $id ];
}

sitewright_answer( sitewright_create_user( sitewright_input() ) );
