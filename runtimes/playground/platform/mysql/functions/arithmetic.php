<?php
namespace WP_MySQL_Layer;

/** Operators on numbers. */
final class Arithmetic_Functions extends Function_Set {
	/** `a DIV b`: division without a remainder, towards zero. */
	public function mysql_integer_division( $dividend, $divisor ) {
		[ $dividend, $divisor ] = [ self::number( $dividend ), self::number( $divisor ) ];
		if ( null === $dividend || null === $divisor || 0.0 === (float) $divisor ) {
			return null;
		}
		if ( is_int( $dividend ) && is_int( $divisor ) && ! ( PHP_INT_MIN === $dividend && -1 === $divisor ) ) {
			return intdiv( $dividend, $divisor );
		}
		$quotient = (float) $dividend / (float) $divisor;
		return (int) ( $quotient < 0 ? ceil( $quotient ) : floor( $quotient ) );
	}

	/** `a MOD b`, with fractions, and the sign of a. */
	public function mysql_modulo( $dividend, $divisor ) {
		[ $dividend, $divisor ] = [ self::number( $dividend ), self::number( $divisor ) ];
		if ( null === $dividend || null === $divisor || 0.0 === (float) $divisor ) {
			return null;
		}
		if ( is_int( $dividend ) && is_int( $divisor ) ) {
			return -1 === $divisor ? 0 : $dividend % $divisor;
		}
		// As many digits as decimals have: 5.3 MOD 0.1 is 0.
		return round( fmod( round( (float) $dividend * 1e9 ), round( (float) $divisor * 1e9 ) ) / 1e9, 9 );
	}

	/** `a ^ b`. */
	public function mysql_bitwise_xor( $one, $other ): ?int {
		[ $one, $other ] = [ self::number( $one ), self::number( $other ) ];
		return null === $one || null === $other ? null : (int) round( $one ) ^ (int) round( $other );
	}

	/** Returns a value as MySQL takes it for a number: of texts, the number at the beginning. */
	private static function number( $value ) {
		if ( null === $value || is_int( $value ) || is_float( $value ) ) {
			return $value;
		}
		preg_match( '/^\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?/', (string) $value, $found );
		return ( $found[0] ?? 0 ) + 0;
	}
}
