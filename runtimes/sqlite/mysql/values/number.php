<?php
namespace WP_MySQL_Layer;

/** How MySQL reads numbers from other values. */
final class Number {
	/** Reads a number as MySQL does where it expects one: as much of a text's beginning as is a number, else 0. */
	public static function number( $value ) {
		if ( ! is_string( $value ) ) {
			return $value;
		}
		if ( 1 !== preg_match( '/^\s*([+-]?)(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?/i', $value, $found ) ) {
			return 0;
		}
		return 0 + trim( $found[0] );
	}

	/** Reads an integer: numbers are rounded, texts are cut off at the first character that is no digit. */
	public static function integer( $value ): int {
		if ( is_int( $value ) ) {
			return $value;
		}
		if ( is_string( $value ) ) {
			$value = 1 === preg_match( '/^\s*[+-]?\d+/', $value, $found ) ? 0 + trim( $found[0] ) : 0;
		} else {
			$value = round( (float) $value );
		}
		return self::clamped( $value );
	}

	/** @param int|float $number A whole number. */
	public static function clamped( $number ): int {
		if ( is_int( $number ) ) {
			return $number;
		}
		if ( $number >= 9223372036854775807.0 ) {
			return PHP_INT_MAX;
		}
		return $number <= -9223372036854775808.0 || is_nan( $number ) ? PHP_INT_MIN : (int) $number;
	}

	/** Returns an integer rather than a float if nothing is lost. */
	public static function tidy( $number ) {
		return is_float( $number ) && floor( $number ) === $number && abs( $number ) < 1e15 ? (int) $number : $number;
	}

	/** Returns how many digits a number has after the point, up to six. */
	public static function digits( $number ): int {
		return is_int( $number ) ? 0 : strlen( rtrim( substr( strrchr( sprintf( '%.6F', $number ), '.' ), 1 ), '0' ) );
	}

	/** Returns integers as texts: PDO takes no integer beyond 32 bits from a function. */
	public static function text( $number ) {
		$number = self::tidy( $number );
		return is_int( $number ) ? (string) $number : $number;
	}
}
