<?php
/** Keeps Site Health from reporting problems with tasks that the installation handles instead of WordPress. */

function sitewright_site_health_tests( $tests ) {
	if ( ! is_array( $tests ) ) {
		return $tests;
	}
	// The installation updates WordPress, with a backup and a trial; WordPress's own updater is switched off.
	unset( $tests['async']['background_updates'] );
	if ( null === sitewright_package_source() ) {
		// Both contact WordPress.org, and this installation is configured not to.
		unset( $tests['async']['dotorg_communication'], $tests['direct']['php_version'] );
	}
	return $tests;
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

sitewright_hook( 'site_status_tests', 'sitewright_site_health_tests', 999 );
sitewright_hook( 'site_status_page_cache_supported_cache_headers', 'sitewright_page_cache_headers', 999 );
sitewright_hook( 'site_status_good_response_time_threshold', 'sitewright_good_response_time', 999 );
