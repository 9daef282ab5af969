<?php
namespace WP_MySQL_Layer;

/**
 * MySQL's functions about numbers, and how MySQL reads numbers from other values.
 * https://dev.mysql.com/doc/refman/8.0/en/numeric-functions.html
 */
final class Number_Functions extends Function_Set {
	public const ARGUMENTS = [
		'log' => [ 1, 2 ],
	];
	public const VOLATILE  = [ 'mysql_rand' ];
	public const WITH_NULL = [ 'interval', 'mysql_format', 'mysql_rand' ];

	/** The largest number of MySQL's own generator. */
	private const LARGEST_RANDOM = 0x3FFFFFFF;

	/** Up to here, nine digits of a fraction fit into a floating-point number as well. */
	private const LARGEST_SCALED = 1e6;

	/** Sequences of RAND by place in the present statement. @var array<int, array{int, int}> */
	private array $random = [];
	private int $random_statement = 0;

	public static function log( $x, $y = false ) {
		return false === $y ? self::logarithm( $x ) : self::logarithm( $y, $x );
	}

	/**
	 * `RAND(seed)`, by MySQL's generator, so that rows keep their order. With a place in the statement, the next number of the
	 * sequence there; without, the first one.
	 */
	public function mysql_rand( $seed, $place = null ): float {
		if ( $this->random_statement !== $this->driver->statement_count() ) {
			$this->random           = [];
			$this->random_statement = $this->driver->statement_count();
		}
		// Larger seeds begin the same sequences, and would become fractions here.
		$seed  = Number::integer( $seed ) & 0xFFFFFFFF;
		$state = null === $place ? null : $this->random[ $place ] ?? null;
		$state ??= [ ( ( $seed * 0x10001 + 55555555 ) & 0xFFFFFFFF ) % self::LARGEST_RANDOM, ( ( $seed * 0x10000001 ) & 0xFFFFFFFF ) % self::LARGEST_RANDOM ];
		$first  = ( $state[0] * 3 + $state[1] ) % self::LARGEST_RANDOM;
		$second = ( $first + $state[1] + 33 ) % self::LARGEST_RANDOM;
		if ( null !== $place ) {
			$this->random[ $place ] = [ $first, $second ];
		}
		return $first / self::LARGEST_RANDOM;
	}

	public static function cot( $x ) {
		$tangent = tan( (float) Number::number( $x ) );
		return 0.0 === $tangent ? null : 1 / $tangent;
	}

	public static function bin( $x ) {
		return self::conv( $x, 10, 2 );
	}

	public static function oct( $x ) {
		return self::conv( $x, 10, 8 );
	}

	public static function crc32( $x ) {
		return (string) crc32( (string) $x );
	}

	public static function mysql_greatest( ...$values ) {
		return self::outermost( $values, 1 );
	}

	public static function mysql_least( ...$values ) {
		return self::outermost( $values, -1 );
	}

	public static function mysql_round( $number, $digits = 0 ) {
		$number = Number::number( $number );
		$digits = max( -30, min( 30, Number::integer( $digits ) ) );
		if ( is_int( $number ) && $digits >= 0 ) {
			return (string) $number;
		}
		return Number::text( round( (float) $number, $digits ) );
	}

	public static function mysql_truncate( $number, $digits ) {
		$number = Number::number( $number );
		$digits = max( -30, min( 30, Number::integer( $digits ) ) );
		if ( is_int( $number ) && $digits >= 0 ) {
			return (string) $number;
		}
		$factor = 10 ** abs( $digits );
		$scaled = $digits < 0 ? $number / $factor : round( $number * $factor, 6 );
		$cut    = $scaled < 0 ? ceil( $scaled ) : floor( $scaled );
		return Number::text( $digits < 0 ? $cut * $factor : $cut / $factor );
	}

	/** `a MOD b`, with fractions, and the sign of a. */
	public static function mysql_mod( $number, $divisor ) {
		$number  = Number::number( $number );
		$divisor = Number::number( $divisor );
		if ( 0.0 === (float) $divisor ) {
			return null;
		}
		if ( is_int( $number ) && is_int( $divisor ) ) {
			return Number::text( -1 === $divisor ? 0 : $number % $divisor );
		}
		// As many digits as decimals have, if there is room for them: 5.3 MOD 0.1 is 0.
		$factor = max( abs( $number ), abs( $divisor ) ) < self::LARGEST_SCALED ? 1e9 : 1.0;
		$rest   = 1.0 === $factor ? fmod( $number, $divisor ) : fmod( round( $number * $factor ), round( $divisor * $factor ) ) / $factor;
		return Number::text( round( $rest, 9 ) );
	}

	/** `a DIV b`: division without a remainder, towards zero. */
	public static function mysql_integer_division( $dividend, $divisor ) {
		$dividend = Number::number( $dividend );
		$divisor  = Number::number( $divisor );
		if ( 0.0 === (float) $divisor ) {
			return null;
		}
		if ( is_int( $dividend ) && is_int( $divisor ) && ! ( PHP_INT_MIN === $dividend && -1 === $divisor ) ) {
			return (string) intdiv( $dividend, $divisor );
		}
		$quotient = (float) $dividend / (float) $divisor;
		return (string) Number::clamped( $quotient < 0 ? ceil( $quotient ) : floor( $quotient ) );
	}

	/** `a ^ b`. */
	public static function mysql_bitwise_xor( $one, $other ): string {
		return (string) ( (int) round( Number::number( $one ) ) ^ (int) round( Number::number( $other ) ) );
	}

	public static function bit_count( $number ): ?int {
		return substr_count( decbin( Number::integer( $number ) ), '1' );
	}

	/** Converts between bases from 2 to 36; a negative base means that the number has a sign. */
	public static function conv( $number, $from, $to ): ?string {
		$from = Number::integer( $from );
		$to   = Number::integer( $to );
		if ( abs( $from ) < 2 || abs( $from ) > 36 || abs( $to ) < 2 || abs( $to ) > 36 ) {
			return null;
		}
		$value = self::unsigned_of( trim( (string) $number ), abs( $from ) );
		return null === $value ? null : self::digits_of( $value, $to );
	}

	public static function mysql_hex( $value ): ?string {
		return strtoupper( is_string( $value ) ? bin2hex( $value ) : dechex( Number::integer( $value ) ) );
	}

	/** FORMAT with thousands separators. Other languages than English are written as in English. */
	public static function mysql_format( $number, $digits, $locale = 'en_US' ): ?string {
		if ( null === $number || null === $digits ) {
			return null;
		}
		$digits = max( 0, min( 38, Number::integer( $digits ) ) );
		list( $point, $separator ) = self::separators( (string) $locale );
		return number_format( (float) Number::number( $number ), $digits, $point, $separator );
	}

	/** INTERVAL: the index of the last value that is not above the first. */
	public static function interval( $number, ...$limits ): int {
		if ( null === $number ) {
			return -1;
		}
		$number = Number::number( $number );
		foreach ( $limits as $at => $limit ) {
			if ( null !== $limit && Number::number( $limit ) > $number ) {
				return $at;
			}
		}
		return count( $limits );
	}

	/** @param int $direction 1 for the greatest value, -1 for the least. */
	private static function outermost( array $values, int $direction ) {
		$texts   = array_filter( $values, 'is_string' );
		$compare = count( $texts ) === count( $values )
			? [ Letters::class, 'compare' ]
			: static fn ( $a, $b ) => Number::number( $a ) <=> Number::number( $b );
		$best = array_shift( $values );
		foreach ( $values as $value ) {
			if ( $compare( $value, $best ) === $direction ) {
				$best = $value;
			}
		}
		return [] === $texts || count( $texts ) > count( $values ) ? $best : Number::number( $best );
	}

	private static function logarithm( $number, $base = M_E ) {
		$number = Number::number( $number );
		$base   = Number::number( $base );
		return $number <= 0 || $base <= 0 || 1 == $base ? null : Number::tidy( self::log_of( (float) $number, $base ) ); // phpcs:ignore -- 1.0 too.
	}

	private static function log_of( float $number, $base ): float {
		if ( 10 === $base ) {
			return log10( $number );
		}
		return M_E === $base ? log( $number ) : log( $number ) / log( (float) $base );
	}

	/** @return array{0: string, 1: string} Decimal point and thousands separator. */
	private static function separators( string $locale ): array {
		$language = strtolower( substr( $locale, 0, 2 ) );
		if ( in_array( $locale, [ 'de_CH', 'de_AT' ], true ) ) {
			return 'de_CH' === $locale ? [ '.', "'" ] : [ ',', '' ];
		}
		if ( in_array( $language, [ 'de', 'da', 'tr', 'id', 'is', 'ro', 'vi', 'nb', 'no', 'eu' ], true ) ) {
			return [ ',', '.' ];
		}
		if ( in_array( $language, [ 'fr', 'it', 'nl', 'pt', 'es', 'pl', 'gl', 'ca', 'sl', 'hr', 'bg', 'el', 'lv', 'sr' ], true ) && 'es_MX' !== $locale ) {
			return [ ',', '' ];
		}
		return in_array( $language, [ 'ru', 'uk', 'cs', 'sk', 'sv', 'fi', 'et', 'be' ], true ) ? [ ',', ' ' ] : [ '.', ',' ];
	}

	/** Returns the bits of a number in any base, or null if it has no digit. */
	private static function unsigned_of( string $text, int $base ): ?int {
		if ( 1 !== preg_match( '/^([+-]?)([0-9a-z]+)/i', $text, $found ) ) {
			return null;
		}
		$value = 0;
		$high  = 0;
		foreach ( str_split( strtolower( $found[2] ) ) as $digit ) {
			$digit = ctype_digit( $digit ) ? (int) $digit : ord( $digit ) - 87;
			if ( $digit >= $base ) {
				break;
			}
			// In two halves, because PHP has no unsigned integers.
			$low  = ( $value & 0xFFFFFFFF ) * $base + $digit;
			$high = ( ( $value >> 32 ) & 0xFFFFFFFF ) * $base + ( $low >> 32 );
			if ( $high > 0xFFFFFFFF ) {
				return -1;
			}
			$value = ( $high << 32 ) | ( $low & 0xFFFFFFFF );
		}
		return '-' === $found[1] ? -$value : $value;
	}

	/** @param int $base Negative if the bits are a number with a sign. */
	private static function digits_of( int $value, int $base ): string {
		$sign = '';
		if ( $base < 0 && $value < 0 ) {
			$sign  = '-';
			$value = -$value;
		}
		$base   = abs( $base );
		$digits = '';
		$high   = ( $value >> 32 ) & 0xFFFFFFFF;
		$low    = $value & 0xFFFFFFFF;
		do {
			$rest   = ( ( $high % $base ) << 32 ) | $low;
			$high   = intdiv( $high, $base );
			$digits = base_convert( (string) ( $rest % $base ), 10, 36 ) . $digits;
			$low    = intdiv( $rest, $base );
		} while ( $high > 0 || $low > 0 );
		return $sign . strtoupper( $digits );
	}
}
