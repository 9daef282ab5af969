<?php
/**
 * Redirects WordPress's requests to WordPress.org to the installation's package source, which may be a mirror in its
 * own network. The source's URL is read only when it is needed: most pages never do.
 */

/** Returns the URL without a trailing slash, or null if there is no package source. */
function sitewright_package_source(): ?string {
	$file   = dirname( __DIR__ ) . '/packageSource.json';
	$source = is_file( $file ) ? json_decode( file_get_contents( $file ) ) : null;
	return is_string( $source ) ? rtrim( $source, '/' ) : null;
}

/**
 * Returns the URL of a resource of WordPress.org at the source, or null for other URLs. A URL of the source itself gets the
 * source's scheme: for older versions, WP-CLI composes links that begin with https.
 */
function sitewright_package_url( string $url, string $source ): ?string {
	$parts = parse_url( $url );
	if ( false === $parts ) {
		return null;
	}
	$host = strtolower( $parts['host'] ?? '' );
	if ( in_array( $host, array( 'api.wordpress.org', 'downloads.wordpress.org' ), true ) ) {
		$query = isset( $parts['query'] ) ? "?{$parts['query']}" : '';
		return $source . ( $parts['path'] ?? '/' ) . $query;
	}
	$own = parse_url( $source );
	if ( false === $own || ! isset( $own['scheme'], $own['host'] ) || strtolower( $own['host'] ) !== $host ) {
		return null;
	}
	$is_same_port = ( $own['port'] ?? null ) === ( $parts['port'] ?? null );
	return $is_same_port ? preg_replace( '~^https?(?=://)~i', $own['scheme'], $url ) : null;
}

function sitewright_redirect_to_package_source( $answer, $args, $url ) {
	if ( false !== $answer || ! is_string( $url ) ) {
		return $answer;
	}
	$source = sitewright_package_source();
	if ( null === $source ) {
		$error = new WP_Error( 'http_request_not_executed', 'This installation has no package source.' );
		return null === sitewright_package_url( $url, 'https://api.wordpress.org' ) ? $answer : $error;
	}
	if ( 'https://api.wordpress.org' === $source ) {
		return $answer;
	}
	$target = sitewright_package_url( $url, $source );
	return null === $target || $target === $url
		? $answer
		: wp_remote_request( $target, array( 'reject_unsafe_urls' => false ) + $args );
}

/** Adds a list that WordPress's REST API takes for granted when it installs a plugin. Mirrors may leave it out. */
function sitewright_complete_plugin( $result, $action ) {
	if ( 'plugin_information' === $action && is_object( $result ) && ! is_wp_error( $result ) ) {
		$packs                  = $result->language_packs ?? null;
		$result->language_packs = is_array( $packs ) ? $packs : array();
	}
	return $result;
}

/**
 * Says in plain words why lists of plugins, themes and languages can't be had. WordPress has the reason only in the data of its
 * error, and its text, with HTML, suspects WordPress.org and names its forums.
 */
function sitewright_explain_failed_source( $result ) {
	$codes = array( 'plugins_api_failed', 'themes_api_failed', 'translations_api_failed' );
	if ( ! is_wp_error( $result ) || ! in_array( $result->get_error_code(), $codes, true ) || ! is_string( $result->get_error_data() ) ) {
		return $result;
	}
	$reason = trim( preg_replace( '/\s+/', ' ', wp_strip_all_tags( $result->get_error_data() ) ) );
	$text   = null === sitewright_package_source()
		? 'This installation has no package source that has lists of plugins, themes and languages.'
		: 'The package source could not be asked: ' . ( '' === $reason ? 'it sent an empty answer.' : mb_strimwidth( $reason, 0, 200, '…' ) );
	return new WP_Error( $result->get_error_code(), $text, $result->get_error_data() );
}

/** Whether WordPress may report an error that it returns as well, in words that are wrong for other sources than WordPress.org. */
function sitewright_reports_failed_source( $reports, $function ) {
	return $reports && ! in_array( $function, array( 'plugins_api', 'themes_api', 'translations_api' ), true );
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
sitewright_hook( 'plugins_api_result', 'sitewright_complete_plugin', 999, 2 );
foreach ( array( 'plugins', 'themes', 'translations' ) as $sitewright_kind ) {
	sitewright_hook( "{$sitewright_kind}_api_result", 'sitewright_explain_failed_source', 999 );
}
sitewright_hook( 'wp_trigger_error_trigger_error', 'sitewright_reports_failed_source', 999, 2 );
sitewright_hook( 'http_request_host_is_external', 'sitewright_is_package_source', 999, 2 );
sitewright_hook( 'http_allowed_safe_ports', 'sitewright_package_ports', 999, 2 );
