<?php
namespace WP_MySQL_Layer;

/**
 * MySQL's functions about texts. Positions count characters from 1, as in MySQL.
 * https://dev.mysql.com/doc/refman/8.0/en/string-functions.html
 */
final class Text_Functions extends Function_Set {
	public const ARGUMENTS = [ 'locate' => [ 2, 3 ], 'reverse' => 1, 'ucase' => 1, 'lcase' => 1 ];
	public const WITH_NULL = [ 'mysql_char', 'mysql_field', 'elt', 'make_set', 'quote' ];

	/** What a statement may carry: MySQL's `max_allowed_packet`. */
	private const LONGEST = 16777216;

	/** The codes of letters that sound alike. All others are silent. */
	private const SOUNDS = [
		...[ 'B' => '1', 'F' => '1', 'P' => '1', 'V' => '1' ],
		...[ 'C' => '2', 'G' => '2', 'J' => '2', 'K' => '2', 'Q' => '2', 'S' => '2', 'X' => '2', 'Z' => '2' ],
		...[ 'D' => '3', 'T' => '3', 'L' => '4', 'M' => '5', 'N' => '5', 'R' => '6' ],
	];

	public static function upper( $text ) {
		return mb_convert_case( (string) $text, MB_CASE_UPPER_SIMPLE );
	}

	public static function lower( $text ) {
		return mb_convert_case( (string) $text, MB_CASE_LOWER_SIMPLE );
	}

	public static function lpad( $text, $length, $pad = ' ' ) {
		return self::pad( $text, $length, $pad, true );
	}

	public static function rpad( $text, $length, $pad = ' ' ) {
		return self::pad( $text, $length, $pad, false );
	}

	public static function ascii( $text ) {
		return '' === (string) $text ? 0 : ord( (string) $text );
	}

	public static function bit_length( $text ) {
		return strlen( (string) $text ) * 8;
	}

	public static function instr( $text, $part ) {
		return self::locate( $part, $text );
	}

	public static function mysql_left( $text, $length ): ?string {
		return mb_substr( (string) $text, 0, max( 0, Number::integer( $length ) ) );
	}

	public static function mysql_right( $text, $length ): ?string {
		$length = Number::integer( $length );
		return $length <= 0 ? '' : mb_substr( (string) $text, -$length );
	}

	public static function mysql_substring( $text, $start, $length = PHP_INT_MAX ): ?string {
		$text   = (string) $text;
		$start  = Number::integer( $start );
		$length = Number::integer( $length );
		if ( 0 === $start || $length <= 0 || ( $start < 0 && -$start > mb_strlen( $text ) ) ) {
			return '';
		}
		return mb_substr( $text, $start > 0 ? $start - 1 : $start, $length );
	}

	/** Returns all before the count-th separator, or, with a negative count, all after it from the end. */
	public static function substring_index( $text, $separator, $count ): ?string {
		$count = Number::integer( $count );
		if ( 0 === $count || '' === (string) $separator || '' === (string) $text ) {
			return '';
		}
		$parts = explode( (string) $separator, (string) $text );
		return implode( (string) $separator, $count > 0 ? array_slice( $parts, 0, $count ) : array_slice( $parts, max( $count, -count( $parts ) ) ) );
	}

	private static function pad( $text, $length, $pad, bool $on_the_left ): ?string {
		$text    = (string) $text;
		$pad     = (string) $pad;
		$length  = Number::integer( $length );
		$missing = $length - mb_strlen( $text );
		if ( $length < 0 || $length > self::LONGEST ) {
			return null;
		}
		if ( $missing <= 0 ) {
			return mb_substr( $text, 0, $length );
		}
		if ( '' === $pad ) {
			return null;
		}
		$padding = mb_substr( str_repeat( $pad, intdiv( $missing, mb_strlen( $pad ) ) + 1 ), 0, $missing );
		return $on_the_left ? $padding . $text : $text . $padding;
	}

	/**
	 * Removes a whole text, not each of its characters, as often as it is there.
	 *
	 * @param string $side BOTH, LEADING or TRAILING.
	 */
	public static function mysql_trim( $side, $text, $removed ): ?string {
		$text    = (string) $text;
		$removed = (string) $removed;
		$length  = strlen( $removed );
		$start   = 0;
		$end     = strlen( $text );
		while ( 'TRAILING' !== $side && $length > 0 && $start + $length <= $end && 0 === substr_compare( $text, $removed, $start, $length ) ) {
			$start += $length;
		}
		while ( 'LEADING' !== $side && $length > 0 && $start + $length <= $end && 0 === substr_compare( $text, $removed, $end - $length, $length ) ) {
			$end -= $length;
		}
		return substr( $text, $start, $end - $start );
	}

	public static function space( $count ) {
		return self::repeat( ' ', $count );
	}

	public static function repeat( $text, $count ): ?string {
		$count = max( 0, Number::integer( $count ) );
		return strlen( (string) $text ) * $count > self::LONGEST ? null : str_repeat( (string) $text, $count );
	}

	public static function reverse( $text ): ?string {
		return implode( '', array_reverse( mb_str_split( (string) $text ) ) );
	}

	public static function mysql_insert( $text, $start, $length, $new ): ?string {
		$text   = (string) $text;
		$start  = Number::integer( $start );
		$length = Number::integer( $length );
		$size   = mb_strlen( $text );
		if ( $start < 1 || $start > $size ) {
			return $text;
		}
		$rest = $length < 0 || $length > $size - $start + 1 ? '' : mb_substr( $text, $start - 1 + $length );
		return mb_substr( $text, 0, $start - 1 ) . $new . $rest;
	}

	/** Numbers above 255 give several bytes. */
	public static function mysql_char( ...$numbers ): string {
		$text = '';
		foreach ( $numbers as $number ) {
			if ( null !== $number ) {
				$bytes = ltrim( pack( 'N', Number::integer( $number ) & 0xFFFFFFFF ), "\0" );
				$text .= '' === $bytes ? "\0" : $bytes;
			}
		}
		return $text;
	}

	public static function ord( $text ): ?int {
		return (int) array_reduce( str_split( mb_substr( (string) $text, 0, 1 ) ), static fn ( $number, $byte ) => $number * 256 + ( '' === $byte ? 0 : ord( $byte ) ), 0 );
	}

	public static function locate( $part, $text, $start = 1 ): ?int {
		$start = Number::integer( $start );
		$text  = Letters::fold( (string) $text );
		if ( $start < 1 || $start > mb_strlen( $text ) + 1 ) {
			return 0;
		}
		$found = mb_strpos( $text, Letters::fold( (string) $part ), $start - 1 );
		return false === $found ? 0 : $found + 1;
	}

	public static function find_in_set( $text, $list ): ?int {
		if ( '' === (string) $list || false !== strpos( (string) $text, ',' ) ) {
			return 0;
		}
		$at = array_search( Letters::fold( (string) $text ), explode( ',', Letters::fold( (string) $list ) ), true );
		return false === $at ? 0 : $at + 1;
	}

	/** Texts are compared as texts, and all else as numbers. */
	public static function mysql_field( $value, ...$values ): int {
		if ( null === $value ) {
			return 0;
		}
		$all_texts = is_string( $value ) && array_filter( $values, static fn ( $each ) => null === $each || is_string( $each ) ) === $values;
		$read      = $all_texts ? static fn ( $each ) => Letters::fold( $each ) : static fn ( $each ) => (float) Number::number( $each );
		foreach ( $values as $at => $each ) {
			if ( null !== $each && $read( $each ) === $read( $value ) ) {
				return $at + 1;
			}
		}
		return 0;
	}

	public static function elt( $number, ...$texts ) {
		return null === $number ? null : $texts[ Number::integer( $number ) - 1 ] ?? null;
	}

	public static function make_set( $bits, ...$texts ): ?string {
		if ( null === $bits ) {
			return null;
		}
		$bits = Number::integer( $bits );
		return implode( ',', array_filter( $texts, static fn ( $text, $at ) => null !== $text && 0 !== ( $bits >> $at & 1 ), ARRAY_FILTER_USE_BOTH ) );
	}

	public static function export_set( $bits, $on, $off, $separator = ',', $count = 64 ): ?string {
		$bits  = Number::integer( $bits );
		$count = Number::integer( $count );
		$count = $count < 0 || $count > 64 ? 64 : $count;
		$parts = [];
		for ( $at = 0; $at < $count; $at++ ) {
			$parts[] = 0 !== ( $bits >> $at & 1 ) ? $on : $off;
		}
		return implode( $separator, $parts );
	}

	public static function strcmp( $a, $b ): ?int {
		return Letters::compare( (string) $a, (string) $b );
	}

	/** Unlike PHP's, MySQL's may be longer than four characters, and drops vowels before it drops repetitions. */
	public static function soundex( $text ): ?string {
		$letters = mb_str_split( mb_convert_case( (string) preg_replace( '/[^\p{L}]/u', '', (string) $text ), MB_CASE_UPPER_SIMPLE ) );
		if ( [] === $letters ) {
			return '';
		}
		$sound = $letters[0];
		$last  = self::SOUNDS[ $letters[0] ] ?? '0';
		foreach ( array_slice( $letters, 1 ) as $letter ) {
			$code = self::SOUNDS[ $letter ] ?? '0';
			if ( '0' !== $code && $code !== $last ) {
				$sound .= $code;
				$last   = $code;
			}
		}
		return $sound . str_repeat( '0', max( 0, 4 - mb_strlen( $sound ) ) );
	}

	public static function quote( $text ): string {
		return null === $text ? 'NULL' : "'" . strtr( (string) $text, [ '\\' => '\\\\', "'" => "\\'", "\0" => '\\0', "\x1a" => '\\Z' ] ) . "'";
	}
}
