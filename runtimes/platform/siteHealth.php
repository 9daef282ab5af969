<?php
/** Keeps Site Health from reporting problems with tasks that the installation handles instead of WordPress. */

function sitewright_site_health_tests( $tests ) {
	if ( ! is_array( $tests ) ) {
		return $tests;
	}
	// The installation updates WordPress, with a backup and a trial; WordPress's own updater is switched off.
	unset( $tests['async']['background_updates'] );
	$source = sitewright_package_source();
	if ( 'https://api.wordpress.org' !== $source ) {
		// Only WordPress.org knows which PHP versions are supported. The installation replaces those that are not.
		unset( $tests['direct']['php_version'] );
	}
	if ( null === $source ) {
		unset( $tests['async']['dotorg_communication'] );
	}
	return $tests;
}

/**
 * Answers the test of background updates, which can still be requested through the REST API: it takes the switched-off
 * updater for a failure.
 */
function sitewright_background_updates_test( $response, $handler, $request ) {
	$is_test = $request instanceof WP_REST_Request && '/wp-site-health/v1/tests/background-updates' === $request->get_route();
	if ( ! $is_test || is_wp_error( $response ) ) {
		return $response;
	}
	return array(
		'label'       => 'Updates are made by the host',
		'status'      => 'good',
		'badge'       => array(
			'label' => 'Security',
			'color' => 'blue',
		),
		'description' => '<p>WordPress does not update itself here. The host makes updates: it backs the site up first, tries'
			. ' the update out, and keeps the present version if a page fails.</p>',
		'actions'     => '',
		'test'        => 'background_updates',
	);
}

/** Accepts a log of errors in the web root: the web server never serves files whose names end with .log. */
function sitewright_site_health_result( $result ) {
	$is_debug_test = is_array( $result ) && 'is_in_debug_mode' === ( $result['test'] ?? null );
	$is_displayed  = defined( 'WP_DEBUG_DISPLAY' ) && WP_DEBUG_DISPLAY;
	if ( $is_debug_test && ! $is_displayed && str_ends_with( (string) ini_get( 'error_log' ), '.log' ) ) {
		$result['label']       = 'Errors are logged to a file that visitors can not read';
		$result['status']      = 'good';
		$result['description'] = '<p>WordPress writes errors to a file. The host does not serve this file to anyone.</p>';
	}
	return $result;
}

/**
 * Names the page cache's header. Site Health tests with requests from PHP itself, which bypass the cache and say so in
 * this header.
 */
function sitewright_page_cache_headers( $headers ) {
	if ( is_array( $headers ) ) {
		$headers['x-cache'] = static fn( $value ) => 1 === preg_match( '/^(hit|miss|stale|bypass)\b/i', trim( (string) $value ) );
	}
	return $headers;
}

/**
 * Threshold in milliseconds. Site Health measures uncached pages, but visitors get cached ones: only pages that nearly
 * time out are slow.
 */
function sitewright_good_response_time(): int {
	return 5000;
}

/** A separate object cache would be slower than the database, which is a part of the PHP process. */
function sitewright_suggests_object_cache(): bool {
	return false;
}

sitewright_hook( 'site_status_tests', 'sitewright_site_health_tests', 999 );
sitewright_hook( 'rest_request_after_callbacks', 'sitewright_background_updates_test', 999, 3 );
sitewright_hook( 'site_status_test_result', 'sitewright_site_health_result', 999 );
sitewright_hook( 'site_status_should_suggest_persistent_object_cache', 'sitewright_suggests_object_cache', 999 );
sitewright_hook( 'site_status_page_cache_supported_cache_headers', 'sitewright_page_cache_headers', 999 );
sitewright_hook( 'site_status_good_response_time_threshold', 'sitewright_good_response_time', 999 );
