<?php
namespace WP_MySQL_Layer;

/** Conversions between types: what CAST needs that SQLite has not. */
final class Cast_Functions extends Function_Set {
	public const ARGUMENTS = [ 'time' => 1 ];

	public function mysql_datetime( $value, $digits = 0 ): ?string {
		$date = Temporal::date( $value );
		if ( null === $date ) {
			return null;
		}
		$date->kind = Temporal::DATETIME;
		return $date->with_digits( $digits )->text();
	}

	public function mysql_clock( $value, $digits = 0 ): ?string {
		return Temporal::time( $value )?->with_digits( $digits )->time_text();
	}

	/**
	 * What a column of times keeps of a value. The driver has SQLite's function of this name in the values of such columns,
	 * which knows times of day with two digits in each part only.
	 */
	public function kept_time( $value ): ?string {
		return Temporal::time( $value )?->with_digits( 0 )->time_text();
	}

	public function mysql_year( $value ): ?int {
		$date = is_string( $value ) && 1 !== preg_match( '/^\s*\d{1,4}\s*$/D', $value ) ? Temporal::date( $value ) : null;
		$year = null === $date ? Number::integer( $value ) : $date->year;
		if ( $year > 0 && $year < 100 ) {
			$year += $year <= Temporal::LAST_SHORT_YEAR ? 2000 : 1900;
		}
		return 0 === $year || ( $year >= 1901 && $year <= 2155 ) ? $year : null;
	}

	/** Writes a number with all its digits but without a point that means nothing. */
	public function mysql_real_text( $number ): ?string {
		return (string) Number::tidy( $number );
	}
}
