<?php
/**
 * Corrects ports in URLs. WordPress knows one address of a site and keeps its port when it changes the scheme. URLs
 * with default ports have none, but with other ports, http at the https port leads nowhere. Visitors who use the other
 * scheme keep the port of their request.
 */

/** Replaces the port if the URL has the scheme of this request and the port of the other scheme. */
function sitewright_own_port( $address ) {
	// Called for every link on a page, so the pattern is built once.
	static $search = null, $port = '';
	if ( null === $search ) {
		$home   = parse_url( (string) get_option( 'home' ) );
		$scheme = is_ssl() ? 'https' : 'http';
		$search = isset( $home['port'] ) && ( $home['scheme'] ?? $scheme ) !== $scheme
			? "#^($scheme://[^/:?\\#]+):{$home['port']}(?=[/?\\#]|$)#i"
			: false;
		$port   = strrchr( $_SERVER['HTTP_HOST'] ?? '', ':' ) ?: '';
	}
	return false === $search || ! is_string( $address )
		? $address
		: preg_replace_callback( $search, static fn ( $found ) => $found[1] . $port, $address );
}

sitewright_hook( 'set_url_scheme', 'sitewright_own_port', 1 );
sitewright_hook( 'redirect_canonical', 'sitewright_own_port', 1 );
