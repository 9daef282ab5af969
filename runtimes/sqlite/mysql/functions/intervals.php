<?php
namespace WP_MySQL_Layer;

/**
 * Arithmetic with intervals: DATE_ADD, DATE_SUB, TIMESTAMPADD, TIMESTAMPDIFF and EXTRACT. The unit, a keyword in MySQL, is
 * passed as the text of that keyword.
 * https://dev.mysql.com/doc/refman/8.0/en/expressions.html#temporal-intervals
 */
final class Interval_Functions extends Function_Set {
	private const UNITS = [
		'MICROSECOND' => 1,
		'SECOND'      => 1000000,
		'MINUTE'      => 60000000,
		'HOUR'        => 3600000000,
		'DAY'         => 86400000000,
		'WEEK'        => 604800000000,
	];

	private const MONTHS = [
		'MONTH'   => 1,
		'QUARTER' => 3,
		'YEAR'    => 12,
	];

	/** Units of several parts, such as `1 10:30` for DAY_MINUTE: the units of their parts. */
	private const COMPOUND = [
		'YEAR_MONTH'         => [ 'YEAR', 'MONTH' ],
		'DAY_HOUR'           => [ 'DAY', 'HOUR' ],
		'DAY_MINUTE'         => [ 'DAY', 'HOUR', 'MINUTE' ],
		'DAY_SECOND'         => [ 'DAY', 'HOUR', 'MINUTE', 'SECOND' ],
		'DAY_MICROSECOND'    => [ 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'MICROSECOND' ],
		'HOUR_MINUTE'        => [ 'HOUR', 'MINUTE' ],
		'HOUR_SECOND'        => [ 'HOUR', 'MINUTE', 'SECOND' ],
		'HOUR_MICROSECOND'   => [ 'HOUR', 'MINUTE', 'SECOND', 'MICROSECOND' ],
		'MINUTE_SECOND'      => [ 'MINUTE', 'SECOND' ],
		'MINUTE_MICROSECOND' => [ 'MINUTE', 'SECOND', 'MICROSECOND' ],
		'SECOND_MICROSECOND' => [ 'SECOND', 'MICROSECOND' ],
	];

	public static function mysql_date_add( $date, $amount, $unit ) {
		return self::shift( $date, $amount, strtoupper( $unit ), 1 );
	}

	public static function mysql_date_sub( $date, $amount, $unit ) {
		return self::shift( $date, $amount, strtoupper( $unit ), -1 );
	}

	/** Like DATE_ADD, of a time without a date. */
	public static function mysql_time_add( $time, $amount, $unit ) {
		return self::shift_time( $time, $amount, strtoupper( $unit ), 1 );
	}

	public static function mysql_time_sub( $time, $amount, $unit ) {
		return self::shift_time( $time, $amount, strtoupper( $unit ), -1 );
	}

	public static function mysql_timestamp_diff( $unit, $start, $end ) {
		return self::difference( strtoupper( $unit ), $start, $end );
	}

	public static function mysql_extract( $unit, $value ) {
		return self::extract( strtoupper( $unit ), $value );
	}

	/** @param int $sign 1 to add, -1 to subtract. */
	private static function shift( $date, $amount, string $unit, int $sign ): ?string {
		$date = Temporal::real_date( $date );
		$parts = null === $date ? null : self::parts( $amount, $unit );
		if ( null === $parts ) {
			return null;
		}
		$months       = 0;
		$microseconds = 0;
		$has_clock    = false;
		foreach ( $parts as $name => $value ) {
			if ( isset( self::MONTHS[ $name ] ) ) {
				$months += $sign * $value * self::MONTHS[ $name ];
				continue;
			}
			$has_clock     = $has_clock || ( 'DAY' !== $name && 'WEEK' !== $name );
			$microseconds += $sign * $value * self::UNITS[ $name ];
			if ( ! is_int( $microseconds ) ) {
				return null;
			}
		}
		if ( isset( self::MONTHS[ $unit ] ) || 'YEAR_MONTH' === $unit ) {
			return self::shift_months( $date, $months );
		}
		$moved = Temporal::of_microseconds( $date->microseconds() + $microseconds );
		if ( null === $moved ) {
			return null;
		}
		$moved->kind     = Temporal::DATE === $date->kind && ! $has_clock ? Temporal::DATE : Temporal::DATETIME;
		return $moved->with_digits( max( $date->digits, self::digits( $amount, $unit ) ) )->text();
	}

	/** @param int $sign 1 to add, -1 to subtract. */
	private static function shift_time( $time, $amount, string $unit, int $sign ): ?string {
		$time  = Temporal::time( $time );
		$parts = null === $time ? null : self::parts( $amount, $unit );
		if ( null === $parts || [] !== array_intersect_key( $parts, self::MONTHS ) ) {
			return null;
		}
		$microseconds = $time->microseconds();
		foreach ( $parts as $name => $value ) {
			$microseconds += $sign * $value * self::UNITS[ $name ];
		}
		$digits = max( $time->digits, self::digits( $amount, $unit ) );
		return is_int( $microseconds ) ? Temporal::of_duration( $microseconds )->with_digits( $digits )->text() : null;
	}

	/** How many digits of a second an interval has. */
	private static function digits( $amount, string $unit ): int {
		if ( str_contains( $unit, 'MICROSECOND' ) ) {
			return 6;
		}
		if ( 'SECOND' !== $unit ) {
			return 0;
		}
		return is_string( $amount ) ? ( str_contains( $amount, '.' ) ? 6 : 0 ) : Number::digits( $amount );
	}

	/** The day becomes the month's last if the month has fewer days. */
	private static function shift_months( Temporal $date, $months ): ?string {
		$total = $date->year * 12 + $date->month - 1 + $months;
		if ( ! is_int( $total ) || $total < 0 || $total >= 120000 ) {
			return null;
		}
		$date->year  = intdiv( $total, 12 );
		$date->month = $total % 12 + 1;
		$date->day   = min( $date->day, Temporal::days_in_month( $date->year, $date->month ) );
		return $date->text();
	}

	private static function difference( string $unit, $start, $end ): ?string {
		$start = Temporal::real_date( $start );
		$end   = Temporal::real_date( $end );
		if ( null === $start || null === $end ) {
			return null;
		}
		$microseconds = $end->microseconds() - $start->microseconds();
		if ( isset( self::UNITS[ $unit ] ) ) {
			return (string) intdiv( $microseconds, self::UNITS[ $unit ] );
		}
		list( $first, $last ) = $microseconds < 0 ? [ $end, $start ] : [ $start, $end ];
		$months               = ( $last->year - $first->year ) * 12 + $last->month - $first->month;
		if ( $last->day < $first->day || ( $last->day === $first->day && $last->clock() < $first->clock() ) ) {
			--$months;
		}
		$count = intdiv( $months, self::MONTHS[ $unit ] );
		return (string) ( $microseconds < 0 ? -$count : $count );
	}

	private static function extract( string $unit, $value ) {
		switch ( $unit ) {
			case 'YEAR':
				return Temporal::date( $value )?->year;
			case 'QUARTER':
				$date = Temporal::date( $value );
				return null === $date ? null : intdiv( $date->month + 2, 3 );
			case 'MONTH':
				return Temporal::date( $value )?->month;
			case 'WEEK':
				$date = Temporal::real_date( $value );
				return null === $date ? null : Calendar::week_of( $date, Calendar::mode( 0 ) )[0];
			case 'DAY':
				return Temporal::date( $value )?->day;
			case 'YEAR_MONTH':
				$date = Temporal::date( $value );
				return null === $date ? null : $date->year * 100 + $date->month;
			default:
				return self::extract_clock( $unit, $value );
		}
	}

	private static function extract_clock( string $unit, $value ): ?string {
		$with_days = 0 === strpos( $unit, 'DAY_' );
		$moment    = ( $with_days ? Temporal::date( $value ) : null ) ?? Temporal::time( $value );
		if ( null === $moment ) {
			return null;
		}
		if ( $with_days && Temporal::TIME === $moment->kind ) {
			$moment->day   = intdiv( $moment->hour, 24 );
			$moment->hour %= 24;
		}
		$fields = [
			'DAY'         => [ $moment->day, 100 ],
			'HOUR'        => [ $moment->hour, 100 ],
			'MINUTE'      => [ $moment->minute, 100 ],
			'SECOND'      => [ $moment->second, 100 ],
			'MICROSECOND' => [ $moment->microsecond, 1000000 ],
		];
		$number = 0;
		foreach ( self::COMPOUND[ $unit ] ?? [ $unit ] as $part ) {
			$number = $number * $fields[ $part ][1] + $fields[ $part ][0];
		}
		return ( $moment->negative ? '-' : '' ) . $number;
	}

	/**
	 * Reads the amount of an interval.
	 *
	 * @return array<string, int|float>|null By unit.
	 */
	private static function parts( $amount, string $unit ): ?array {
		if ( isset( self::COMPOUND[ $unit ] ) ) {
			return self::compound_parts( (string) $amount, $unit );
		}
		if ( 'SECOND' !== $unit ) {
			return [ $unit => Number::integer( $amount ) ];
		}
		$number = Number::number( $amount );
		return is_int( $number ) ? [ 'SECOND' => $number ] : [ 'MICROSECOND' => (int) round( $number * 1000000 ) ];
	}

	/** Too few numbers are the last parts: `1:30` of DAY_SECOND are minutes and seconds. */
	private static function compound_parts( string $amount, string $unit ): ?array {
		$names = self::COMPOUND[ $unit ];
		preg_match_all( '/\d+/', $amount, $found );
		$numbers = $found[0];
		if ( count( $numbers ) > count( $names ) ) {
			return null;
		}
		$names = array_slice( $names, -count( $numbers ), null );
		$sign  = '-' === ( ltrim( $amount )[0] ?? '' ) ? -1 : 1;
		$parts = [];
		foreach ( $numbers as $at => $digits ) {
			if ( 'MICROSECOND' === $names[ $at ] ) {
				$digits = substr( str_pad( $digits, 6, '0' ), 0, 6 );
			}
			$parts[ $names[ $at ] ] = $sign * (int) $digits;
		}
		return $parts;
	}
}
