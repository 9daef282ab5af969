<?php
/** Site Health must not blame a site for what the installation does instead of WordPress. */

function sitewright_site_health_tests( $tests ) {
	if ( ! is_array( $tests ) ) {
		return $tests;
	}
	// Updates are made by the installation, with a backup and a trial; WordPress's own updater is switched off.
	unset( $tests['async']['background_updates'] );
	if ( null === sitewright_package_source() ) {
		// Both ask WordPress.org, which this installation is set not to do.
		unset( $tests['async']['dotorg_communication'], $tests['direct']['php_version'] );
	}
	return $tests;
}

/** The page cache lets requests of PHP itself pass, which is what Site Health tests it with, and says so. */
function sitewright_page_cache_headers( $headers ) {
	if ( is_array( $headers ) ) {
		$headers['x-cache'] = static fn( $value ) => 1 === preg_match( '/^(hit|miss|stale|bypass)\b/i', trim( (string) $value ) );
	}
	return $headers;
}

/** In milliseconds. What Site Health measures is uncached pages, and visitors get cached ones: slow is what nearly times out. */
function sitewright_good_response_time(): int {
	return 5000;
}

sitewright_hook( 'site_status_tests', 'sitewright_site_health_tests', 999 );
sitewright_hook( 'site_status_page_cache_supported_cache_headers', 'sitewright_page_cache_headers', 999 );
sitewright_hook( 'site_status_good_response_time_threshold', 'sitewright_good_response_time', 999 );
