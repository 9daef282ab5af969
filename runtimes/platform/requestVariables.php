<?php
/**
 * Lets `getenv()` find the variables of a request, as FPM and Apache do by themselves: plugins look there for visitors'
 * addresses and for what single sign-on has found out. PHP removes them at the end of the request.
 */

const SITEWRIGHT_REQUEST_VARIABLES = '/^(?:(?:HTTP|REMOTE|SERVER|SCRIPT|CONTENT)_|(?:REQUEST_(?:METHOD|URI|SCHEME)|QUERY_STRING|PATH_INFO|DOCUMENT_ROOT|GATEWAY_INTERFACE)$)/';

if ( isset( $_SERVER['REMOTE_ADDR'] ) && false === getenv( 'REMOTE_ADDR' ) ) {
	foreach ( preg_grep( SITEWRIGHT_REQUEST_VARIABLES, array_keys( $_SERVER ) ) as $sitewright_name ) {
		putenv( "$sitewright_name=$_SERVER[$sitewright_name]" );
	}
	unset( $sitewright_name );
	// Without TLS it is absent there, and some take any text for yes.
	if ( 'on' === ( $_SERVER['HTTPS'] ?? '' ) ) {
		putenv( 'HTTPS=on' );
	}
}
