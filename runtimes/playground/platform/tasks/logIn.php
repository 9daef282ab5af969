<?php
/**
 * Logs a visitor in who came by a login link, and sends them to the dashboard. What it prints is for them: a plugin that asks
 * for a second factor after a login may do so.
 *
 * It happens at the very beginning of `init`, where WordPress is ready for it: before plugins that send everybody away who
 * is not logged in, and without the login page, which a plugin may have moved.
 */

require __DIR__ . '/../order.php';

function sitewright_dashboard( WP_User $user ): string {
	$is_elsewhere = is_multisite() && ! is_user_member_of_blog( $user->ID );
	return $is_elsewhere ? network_admin_url() : admin_url();
}

function sitewright_log_in(): void {
	[ 'user' => $id, 'login' => $login ] = sitewright_input();
	$user = get_userdata( $id );
	if ( ! $user || $user->user_login !== $login ) {
		wp_die( 'This user is not there any more.', '', [ 'response' => 403 ] );
	}
	if ( ! in_array( 'administrator', $user->roles, true ) && ! ( is_multisite() && is_super_admin( $id ) ) ) {
		wp_die( 'This user is no administrator any more.', '', [ 'response' => 403 ] );
	}
	wp_set_current_user( $id );
	wp_set_auth_cookie( $id );
	do_action( 'wp_login', $user->user_login, $user );
	nocache_headers();
	header( 'Referrer-Policy: no-referrer' );
	wp_redirect( sitewright_dashboard( $user ) );
	exit;
}

sitewright_hook( 'init', 'sitewright_log_in', PHP_INT_MIN );

require '/site/wp-load.php';
