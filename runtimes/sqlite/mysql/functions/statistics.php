<?php
namespace WP_MySQL_Layer;

/**
 * Aggregate functions that SQLite has not.
 * https://dev.mysql.com/doc/refman/8.0/en/aggregate-functions.html
 */
final class Statistic_Functions extends Function_Set {
	public const AGGREGATES = [
		...[ 'stddev_pop' => 'add_value', 'stddev_samp' => 'add_value', 'var_pop' => 'add_value', 'var_samp' => 'add_value' ],
		...[ 'bit_and' => 'and_value', 'bit_or' => 'or_value', 'bit_xor' => 'xor_value' ],
	];

	public function stddev_pop( $sums ): ?float {
		$variance = $this->var_pop( $sums );
		return null === $variance ? null : sqrt( $variance );
	}

	public function stddev_samp( $sums ): ?float {
		$variance = $this->var_samp( $sums );
		return null === $variance ? null : sqrt( $variance );
	}

	public function var_pop( $sums ): ?float {
		return null === $sums ? null : $sums[2] / $sums[0];
	}

	public function var_samp( $sums ): ?float {
		return null === $sums || $sums[0] < 2 ? null : $sums[2] / ( $sums[0] - 1 );
	}

	public function bit_and( $bits ): string {
		return sprintf( '%u', $bits ?? -1 );
	}

	public function bit_or( $bits ): string {
		return sprintf( '%u', $bits ?? 0 );
	}

	public function bit_xor( $bits ): string {
		return sprintf( '%u', $bits ?? 0 );
	}

	/**
	 * Welford's method: a single pass, without the loss of digits of a sum of squares.
	 *
	 * @param array|null $sums Count, mean, and the sum of the squared distances from it.
	 */
	public function add_value( $sums, $row, $value ): ?array {
		if ( null === $value ) {
			return $sums;
		}
		[ $count, $mean, $squares ] = $sums ?? [ 0, 0.0, 0.0 ];
		$value                      = (float) Number::number( $value );
		$distance                   = $value - $mean;
		$mean                      += $distance / ( $count + 1 );
		return [ $count + 1, $mean, $squares + $distance * ( $value - $mean ) ];
	}

	public function and_value( $bits, $row, $value ): ?int {
		return null === $value ? $bits : ( $bits ?? -1 ) & Number::integer( $value );
	}

	public function or_value( $bits, $row, $value ): ?int {
		return null === $value ? $bits : ( $bits ?? 0 ) | Number::integer( $value );
	}

	public function xor_value( $bits, $row, $value ): ?int {
		return null === $value ? $bits : ( $bits ?? 0 ) ^ Number::integer( $value );
	}
}
