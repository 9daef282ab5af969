<?php
/**
 * Messages to the server. PHP under WebAssembly has a function for them. Elsewhere they go through a socket; the server knows
 * which environment it belongs to. Each message and its answer is preceded by its length, and PHP waits for the answer. So the
 * server has every message of a page before the page ends. Messages of a page begin with its token, so that a program which an
 * earlier page has left running can't send them.
 */

if ( ! function_exists( 'post_message_to_js' ) ) {
	// The program that sends e-mail gets it as an argument.
	define( 'SITEWRIGHT_SOCKET', (string) ( $_SERVER['SITEWRIGHT_SOCKET'] ?? $argv[1] ?? '' ) );
	define( 'SITEWRIGHT_TOKEN', (string) ( $_SERVER['SITEWRIGHT_TOKEN'] ?? '' ) );
	unset( $_SERVER['SITEWRIGHT_SOCKET'], $_SERVER['SITEWRIGHT_TOKEN'] );
}

/** Sends a message. Returns the answer, or the empty string if there is none. */
function sitewright_tell( array $message ): string {
	return sitewright_send( (string) json_encode( $message, JSON_INVALID_UTF8_SUBSTITUTE ) );
}

/** The same for a text. */
function sitewright_send( string $text ): string {
	if ( ! defined( 'SITEWRIGHT_SOCKET' ) ) {
		return (string) post_message_to_js( $text );
	}
	static $connection = null;
	$connection ??= @stream_socket_client( 'unix://' . SITEWRIGHT_SOCKET );
	if ( ! is_resource( $connection ) ) {
		return '';
	}
	// Storing an e-mail may take longer than PHP usually waits.
	stream_set_timeout( $connection, 300 );
	$text = SITEWRIGHT_TOKEN . $text;
	fwrite( $connection, pack( 'N', strlen( $text ) ) . $text );
	$length = (string) stream_get_contents( $connection, 4 );
	return 4 === strlen( $length ) ? (string) stream_get_contents( $connection, unpack( 'N', $length )[1] ) : '';
}
