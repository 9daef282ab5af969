<?php
namespace WP_MySQL_Layer;

final class Arithmetic_Functions extends Function_Set {
	/** `a DIV b`. */
	public function mysql_integer_division( $dividend, $divisor ): ?int {
		if ( null === $dividend || null === $divisor || 0.0 === (float) $divisor ) {
			return null;
		}
		if ( is_int( $dividend ) && is_int( $divisor ) ) {
			return intdiv( $dividend, $divisor );
		}
		return (int) ( (float) $dividend / (float) $divisor );
	}
}
