<?php
/**
 * Keeps the list of user names from anonymous visitors, who would guess passwords for them. Themes still show the names of
 * authors. A site whose pages need the list turns it on: `add_filter( 'sitewright_list_users', '__return_true' )`.
 */

function sitewright_hides_users(): bool {
	return ! is_user_logged_in() && ! apply_filters( 'sitewright_list_users', false );
}

sitewright_hook(
	'rest_request_before_callbacks',
	static function ( $response, $handler, $request ) {
		$is_list = preg_match( '#^/wp/v2/users(?:/|$)#i', $request->get_route() );
		return ! is_wp_error( $response ) && $is_list && sitewright_hides_users()
			? new WP_Error( 'rest_user_cannot_view', 'Sorry, you are not allowed to list users.', array( 'status' => 401 ) )
			: $response;
	},
	10,
	3
);

// The list of authors in the sitemap.
sitewright_hook(
	'wp_sitemaps_add_provider',
	static fn ( $provider, $name ) => 'users' === $name && sitewright_hides_users() ? false : $provider,
	10,
	2
);

// With permalinks, `/?author=1` is redirected to an address with the user's name. No theme links to it.
sitewright_hook(
	'template_redirect',
	static function () {
		if ( isset( $_GET['author'] ) && is_author() && get_option( 'permalink_structure' ) && sitewright_hides_users() ) {
			$GLOBALS['wp_query']->set_404();
			status_header( 404 );
			nocache_headers();
		}
	},
	1
);
