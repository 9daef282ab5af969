<?php
/**
 * WordPress knows one address of a site, and takes its port along when the scheme is another one. An address with the usual
 * ports has none; with others, http at the port of https leads nowhere. Whoever comes by the other scheme keeps the
 * port that they came to.
 */

/** The address with the port of this request, where it has the request's scheme and the port that belongs to the other. */
function sitewright_own_port( $address ) {
	// As often as there are links on a page: what is to be found is worked out once.
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
