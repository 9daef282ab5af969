<?php
namespace WP_MySQL_Layer;

/**
 * MySQL's functions about hashes, encodings, network addresses and identifiers.
 * https://dev.mysql.com/doc/refman/8.0/en/encryption-functions.html
 */
final class Code_Functions extends Function_Set {
	public const VOLATILE  = [ 'uuid', 'uuid_short', 'random_bytes' ];
	public const ARGUMENTS = [ 'md5' => 1, 'unhex' => 1, 'from_base64' => 1, 'to_base64' => 1, 'inet_ntoa' => 1, 'inet_aton' => 1 ];
	public const WITH_NULL = [ 'is_ipv4', 'is_ipv6', 'is_ipv4_compat', 'is_ipv4_mapped' ];

	private const BASE64_LINE = 76;

	public static function md5( $text ) {
		return md5( (string) $text );
	}

	public static function sha1( $text ) {
		return sha1( (string) $text );
	}

	public static function is_ipv4( $text ) {
		return null === $text ? 0 : self::is_address( (string) $text, FILTER_FLAG_IPV4 );
	}

	public static function is_ipv6( $text ) {
		return null === $text ? 0 : self::is_address( (string) $text, FILTER_FLAG_IPV6 );
	}

	public static function is_ipv4_compat( $bytes ) {
		return self::begins_with( $bytes, str_repeat( "\0", 12 ) );
	}

	public static function is_ipv4_mapped( $bytes ) {
		return self::begins_with( $bytes, str_repeat( "\0", 10 ) . "\xff\xff" );
	}

	public static function is_uuid( $text ) {
		return preg_match( '/^(?:\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/iD', (string) $text );
	}

	public static function uuid_to_bin( $text ) {
		return self::unhex( strtr( (string) $text, [ '-' => '', '{' => '', '}' => '' ] ) );
	}

	public static function uuid_short() {
		return (string) random_int( 1 << 56, PHP_INT_MAX );
	}

	public static function random_bytes( $count ) {
		return random_bytes( max( 1, Number::integer( $count ) ) );
	}

	public static function sha2( $text, $bits ): ?string {
		$bits = Number::integer( $bits );
		$bits = 0 === $bits ? 256 : $bits;
		return in_array( $bits, [ 224, 256, 384, 512 ], true ) ? hash( "sha$bits", (string) $text ) : null;
	}

	public static function unhex( $text ): ?string {
		$text = (string) $text;
		$text = 1 === strlen( $text ) % 2 ? "0$text" : $text;
		return '' === $text || ctype_xdigit( $text ) ? (string) hex2bin( $text ) : null;
	}

	public static function to_base64( $bytes ): ?string {
		return rtrim( chunk_split( base64_encode( (string) $bytes ), self::BASE64_LINE, "\n" ), "\n" );
	}

	public static function from_base64( $text ): ?string {
		$text    = (string) preg_replace( '/\s+/', '', (string) $text );
		$decoded = 0 === strlen( $text ) % 4 ? base64_decode( $text, true ) : false;
		return false === $decoded ? null : $decoded;
	}

	public static function aes_encrypt( $text, $key ): ?string {
		return (string) openssl_encrypt( (string) $text, 'aes-128-ecb', self::aes_key( (string) $key ), OPENSSL_RAW_DATA );
	}

	public static function aes_decrypt( $bytes, $key ): ?string {
		$text = openssl_decrypt( (string) $bytes, 'aes-128-ecb', self::aes_key( (string) $key ), OPENSSL_RAW_DATA );
		return false === $text ? null : $text;
	}

	/** MySQL folds a key of any length into 16 bytes. */
	private static function aes_key( string $key ): string {
		$folded = str_repeat( "\0", 16 );
		foreach ( str_split( $key, 16 ) as $part ) {
			$folded ^= str_pad( $part, 16, "\0" );
		}
		return $folded;
	}

	public static function compress( $text ): ?string {
		return '' === (string) $text ? '' : pack( 'V', strlen( (string) $text ) ) . gzcompress( (string) $text );
	}

	public static function uncompress( $bytes ): ?string {
		if ( '' === $bytes ) {
			return $bytes;
		}
		$text = strlen( (string) $bytes ) > 4 ? @gzuncompress( substr( (string) $bytes, 4 ) ) : false;
		return false === $text ? null : $text;
	}

	public static function uncompressed_length( $bytes ): ?int {
		return strlen( (string) $bytes ) < 4 ? 0 : unpack( 'V', (string) $bytes )[1] & 0x3FFFFFFF;
	}

	/** Accepts short forms: `127.1` is `127.0.0.1`. */
	public static function inet_aton( $text ): ?string {
		if ( 1 !== preg_match( '/^\d{1,3}(?:\.\d{1,3}){0,3}$/D', (string) $text ) ) {
			return null;
		}
		$parts = array_map( 'intval', explode( '.', (string) $text ) );
		if ( max( $parts ) > 255 ) {
			return null;
		}
		$last   = array_pop( $parts );
		$number = 0;
		foreach ( array_pad( $parts, 3, 0 ) as $part ) {
			$number = $number * 256 + $part;
		}
		return (string) ( [] === $parts ? $last : $number * 256 + $last );
	}

	public static function inet_ntoa( $number ): ?string {
		$number = Number::integer( $number );
		return $number < 0 || $number > 0xFFFFFFFF ? null : long2ip( $number );
	}

	public static function inet6_aton( $text ): ?string {
		$bytes = false === filter_var( $text, FILTER_VALIDATE_IP ) ? false : inet_pton( $text );
		return false === $bytes ? null : $bytes;
	}

	public static function inet6_ntoa( $bytes ): ?string {
		$text = ! in_array( strlen( (string) $bytes ), [ 4, 16 ], true ) ? false : inet_ntop( (string) $bytes );
		return false === $text ? null : $text;
	}

	public static function bin_to_uuid( $bytes ): ?string {
		if ( 16 !== strlen( (string) $bytes ) ) {
			return null;
		}
		return preg_replace( '/^(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', bin2hex( (string) $bytes ) );
	}

	public static function uuid(): string {
		$bytes    = random_bytes( 16 );
		$bytes[6] = chr( ord( $bytes[6] ) & 0x0F | 0x10 );
		$bytes[8] = chr( ord( $bytes[8] ) & 0x3F | 0x80 );
		return (string) self::bin_to_uuid( $bytes );
	}

	private static function is_address( string $text, int $kind ): int {
		return false === filter_var( $text, FILTER_VALIDATE_IP, $kind ) ? 0 : 1;
	}

	private static function begins_with( $bytes, string $prefix ): int {
		return null !== $bytes && 16 === strlen( (string) $bytes ) && 0 === strpos( (string) $bytes, $prefix ) ? 1 : 0;
	}
}
