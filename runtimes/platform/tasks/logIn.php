<?php
/**
 * Logs in a visitor who came by a login link, and redirects to the dashboard. Its output goes to the visitor, so that a
 * plugin can ask for a second factor after the login.
 *
 * Runs at the very beginning of `init`, when WordPress is ready: before plugins that redirect visitors who are not
 * logged in, and independent of the login page, which a plugin may have moved.
 */

require __DIR__ . '/../order.php';

function sitewright_dashboard( WP_User $user ): string {
	$is_elsewhere = is_multisite() && ! is_user_member_of_blog( $user->ID );
	if ( $is_elsewhere ) {
		return network_admin_url();
	}
	// Not at the site's own address: DNS may not point it here, and the visitor came by another domain.
	return is_multisite() ? admin_url() : wp_parse_url( admin_url(), PHP_URL_PATH );
}

function sitewright_log_in(): void {
	[ 'user' => $id, 'login' => $login ] = sitewright_task_input();
	$user = get_userdata( $id );
	if ( ! $user || $user->user_login !== $login ) {
		wp_die( 'This user no longer exists.', '', [ 'response' => 403 ] );
	}
	if ( ! in_array( 'administrator', $user->roles, true ) && ! ( is_multisite() && is_super_admin( $id ) ) ) {
		wp_die( 'This user is no longer an administrator.', '', [ 'response' => 403 ] );
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
