<?php
/**
 * Redirects WordPress's requests to WordPress.org to the installation's package source, which may be a mirror in its
 * own network. The source's URL is read only when it is needed: most pages never do.
 */

/** Returns the URL without a trailing slash, or null if there is no package source. */
function sitewright_package_source(): ?string {
	$file   = __DIR__ . '/packageSource.json';
	$source = is_file( $file ) ? json_decode( file_get_contents( $file ) ) : null;
	return is_string( $source ) ? rtrim( $source, '/' ) : null;
}

function sitewright_redirect_to_package_source( $answer, $args, $url ) {
	$parts = is_string( $url ) ? parse_url( $url ) : false;
	$hosts = array( 'api.wordpress.org', 'downloads.wordpress.org' );
	if ( false !== $answer || false === $parts || ! in_array( strtolower( $parts['host'] ?? '' ), $hosts, true ) ) {
		return $answer;
	}
	$source = sitewright_package_source();
	if ( null === $source ) {
		return new WP_Error( 'http_request_not_executed', 'This installation has no package source.' );
	}
	if ( 'https://api.wordpress.org' === $source ) {
		return $answer;
	}
	$query = isset( $parts['query'] ) ? "?{$parts['query']}" : '';
	return wp_remote_request( $source . ( $parts['path'] ?? '/' ) . $query, array( 'reject_unsafe_urls' => false ) + $args );
}

/**
 * Whether the host is the source's. Without this, WordPress refuses to fetch packages from private addresses and
 * unusual ports.
 */
function sitewright_is_package_source( $is_external, $host ) {
	$source = sitewright_package_source();
	return $is_external || ( null !== $source && parse_url( $source, PHP_URL_HOST ) === $host );
}

function sitewright_package_ports( $ports, $host ) {
	$source = sitewright_package_source();
	$port   = null === $source || parse_url( $source, PHP_URL_HOST ) !== $host ? null : parse_url( $source, PHP_URL_PORT );
	return is_array( $ports ) && null !== $port ? array( ...$ports, $port ) : $ports;
}

sitewright_hook( 'pre_http_request', 'sitewright_redirect_to_package_source', 1, 3 );
sitewright_hook( 'http_request_host_is_external', 'sitewright_is_package_source', 999, 2 );
sitewright_hook( 'http_allowed_safe_ports', 'sitewright_package_ports', 999, 2 );
