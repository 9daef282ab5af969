<?php
/**
 * Creates an administrator, in a network a super admin. The password is not disclosed and no mail is sent: the user
 * logs in with a login link, or requests a new password from WordPress.
 */

require __DIR__ . '/../task.php';
require '/site/wp-load.php';

/** Derives a free login from the local part of the e-mail address. Letters and digits only, as networks require. */
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

/** Whether the user really is an administrator: plugins may have changed the role. */
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

function sitewright_create_user( array $input ): array {
	// WordPress's own check uses the slashed address and misses one with an apostrophe.
	if ( email_exists( $input['email'] ) ) {
		return [ 'refused' => 'exists' ];
	}
	$id = wp_insert_user(
		wp_slash(
			[
				'user_login' => sitewright_free_login( $input['email'] ),
				'user_pass'  => wp_generate_password( 64, false ),
				'user_email' => $input['email'],
				'first_name' => $input['firstName'],
				'last_name'  => $input['lastName'],
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
		return [ 'failed' => 'A plugin or theme of the site prevents new users from becoming administrators.' ];
	}
	return [ 'created' => $id ];
}

sitewright_task_result( sitewright_create_user( sitewright_task_input() ) );
