<?php
namespace WP_MySQL_Layer;

/**
 * A date, a time, or both, as MySQL reads and writes them.
 *
 * MySQL accepts much that PHP's DateTime refuses or bends: `2024-00-00`, `24.3.5`, `20240305`, times of 838 hours. It also
 * refuses what PHP accepts, such as `next monday` or `2024-02-30`. So dates are parsed and counted here.
 *
 * The reading follows the reference manual's chapters on date and time literals and on conversion between types:
 * https://dev.mysql.com/doc/refman/8.0/en/date-and-time-literals.html
 */
final class Temporal {
	const DATE     = 'date';
	const DATETIME = 'datetime';
	const TIME     = 'time';

	/** TIME values end at 838:59:59. */
	const MAX_HOURS = 838;
	/** Years of two digits up to this one belong to this century. */
	const LAST_SHORT_YEAR = 69;

	/** 3001-01-18 23:59:59, the end of Unix time since MySQL 8.0.28. */
	const LAST_UNIX_SECOND = 32536771199;

	private const MONTH_DAYS = [ 0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 ];

	public int $year        = 0;
	public int $month       = 0;
	public int $day         = 0;
	public int $hour        = 0;
	public int $minute      = 0;
	public int $second      = 0;
	public int $microsecond = 0;
	/** Only times can be negative. */
	public bool $negative = false;
	/** One of the constants above. */
	public string $kind = self::DATE;
	/** How many digits of the fraction are written. */
	public int $digits = 0;

	/**
	 * Reads a date, with or without a time. Parts may be zero.
	 *
	 * @param mixed $value An SQL value.
	 * @return self|null Null for NULL and for what is no date.
	 */
	public static function date( $value ): ?self {
		if ( null === $value ) {
			return null;
		}
		return is_string( $value ) ? self::date_of_text( $value ) : self::date_of_number( $value );
	}

	/** Like `date`, but without zero parts: such a date is at no distance from any other. */
	public static function real_date( $value ): ?self {
		$date = self::date( $value );
		return null === $date || 0 === $date->month || 0 === $date->day ? null : $date;
	}

	/**
	 * Reads a time: the time of day of a date, or a duration.
	 *
	 * @param mixed $value An SQL value.
	 * @return self|null Null for NULL and for what is no time.
	 */
	public static function time( $value ): ?self {
		if ( null === $value ) {
			return null;
		}
		return is_string( $value ) ? self::time_of_text( $value ) : self::time_of_number( $value );
	}

	public static function of_day_number( int $number ): self {
		$date = new self();
		list( $date->year, $date->month, $date->day ) = self::civil( $number );
		return $date;
	}

	/** Returns a date and time at so many microseconds since the year 0, or null if it is out of range. */
	public static function of_microseconds( int $microseconds ): ?self {
		$days = intdiv( $microseconds, 86400000000 );
		$rest = $microseconds % 86400000000;
		if ( $rest < 0 ) {
			--$days;
			$rest += 86400000000;
		}
		if ( $days < 366 || $days > 3652424 ) {
			return null;
		}
		$date = self::of_day_number( $days );
		$date->set_clock( $rest );
		$date->kind = self::DATETIME;
		return $date;
	}

	/** Returns a time of so many microseconds, at most 838:59:59. */
	public static function of_duration( int $microseconds ): self {
		$time           = new self();
		$time->kind     = self::TIME;
		$time->negative = $microseconds < 0;
		$limit          = ( self::MAX_HOURS * 3600 + 3599 ) * 1000000;
		$time->set_clock( min( abs( $microseconds ), $limit ) );
		return $time;
	}

	/** Returns the date of a Unix timestamp, in UTC. */
	public static function of_unix( int $seconds, int $microsecond = 0 ): self {
		$date              = self::of_day_number( 719528 + intdiv( $seconds, 86400 ) );
		$date->kind        = self::DATETIME;
		$date->set_clock( ( $seconds % 86400 ) * 1000000 + $microsecond );
		return $date;
	}

	public static function days_in_month( int $year, int $month ): int {
		return 2 === $month && self::is_leap_year( $year ) ? 29 : self::MONTH_DAYS[ $month ];
	}

	public static function is_leap_year( int $year ): bool {
		return 0 === $year % 4 && ( 0 !== $year % 100 || ( 0 === $year % 400 && 0 !== $year ) );
	}

	/** Returns the number of days since the year 0, as TO_DAYS does. Zero parts count as MySQL counts them. */
	public static function day_number( int $year, int $month, int $day ): int {
		if ( 0 === $year && 0 === $month ) {
			return 0;
		}
		$days = 365 * $year + 31 * ( $month - 1 ) + $day;
		if ( $month <= 2 ) {
			--$year;
		} else {
			$days -= intdiv( $month * 4 + 23, 10 );
		}
		return $days + intdiv( $year, 4 ) - intdiv( ( intdiv( $year, 100 ) + 1 ) * 3, 4 );
	}

	public function days(): int {
		return self::day_number( $this->year, $this->month, $this->day );
	}

	/** Returns the time of day, or the duration, without its sign. */
	public function clock(): int {
		return ( ( $this->hour * 60 + $this->minute ) * 60 + $this->second ) * 1000000 + $this->microsecond;
	}

	/** Returns the microseconds since the year 0, or those of the duration, with its sign. */
	public function microseconds(): int {
		if ( self::TIME === $this->kind ) {
			return $this->negative ? -$this->clock() : $this->clock();
		}
		return $this->days() * 86400000000 + $this->clock();
	}

	public function set_clock( int $microseconds ): void {
		$this->microsecond = $microseconds % 1000000;
		$seconds           = intdiv( $microseconds, 1000000 );
		$this->second      = $seconds % 60;
		$this->minute      = intdiv( $seconds, 60 ) % 60;
		$this->hour        = intdiv( $seconds, 3600 );
		$this->digits = max( $this->digits, 0 === $this->microsecond ? 0 : 6 );
	}

	/** Returns 0 for Monday to 6 for Sunday; or 0 for Sunday to 6 for Saturday. */
	public function weekday( bool $sunday_first = false ): int {
		return ( $this->days() + ( $sunday_first ? 6 : 5 ) ) % 7;
	}

	public function is_zero(): bool {
		return 0 === $this->year && 0 === $this->month && 0 === $this->day;
	}

	public function date_text(): string {
		return sprintf( '%04d-%02d-%02d', $this->year, $this->month, $this->day );
	}

	public function time_text(): string {
		return sprintf( '%s%02d:%02d:%02d', $this->negative ? '-' : '', $this->hour, $this->minute, $this->second ) . $this->fraction_text();
	}

	public function text(): string {
		if ( self::DATE === $this->kind ) {
			return $this->date_text();
		}
		return self::TIME === $this->kind ? $this->time_text() : $this->date_text() . ' ' . $this->time_text();
	}

	/** Cuts the fraction off after so many digits. */
	public function with_digits( int $digits ): self {
		$this->digits = min( 6, $digits );
		return $this;
	}

	private function fraction_text(): string {
		return 0 === $this->digits ? '' : '.' . substr( sprintf( '%06d', $this->microsecond ), 0, $this->digits );
	}

	private static function date_of_text( string $text ): ?self {
		$text = ltrim( $text, " \t\n\r\v\f" );
		if ( 1 === preg_match( '/^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d))?$/D', $text, $parts ) ) {
			return self::checked( $parts, strlen( $parts[1] ), count( $parts ) > 4 );
		}
		if ( 1 === preg_match( '/^\d+(?=$|[.T])/', $text, $digits ) && strlen( $digits[0] ) > 2 ) {
			return self::date_of_digits( $digits[0], substr( $text, strlen( $digits[0] ) ) );
		}
		$clock = '(?:(?:[[:punct:]]|T|\s+)(\d+)(?:[[:punct:]](\d+)(?:[[:punct:]](\d+)(?:\.(\d*))?)?)?)?';
		if ( 1 !== preg_match( "/^(\d+)[[:punct:]](\d+)[[:punct:]](\d+)$clock/", $text, $parts ) ) {
			return null;
		}
		return self::checked( $parts, strlen( $parts[1] ), count( $parts ) > 4 );
	}

	/** Reads `20240305`, `240305`, `20240305142837` and `240305142837`. */
	private static function date_of_digits( string $digits, string $rest ): ?self {
		$length = strlen( $digits );
		$year   = 4 === $length || 8 === $length || $length >= 14 ? 4 : 2;
		$clock  = 'T' === ( $rest[0] ?? '' ) && 1 === preg_match( '/^T(\d+)/', $rest, $found ) ? $found[1] : '';
		if ( 1 !== preg_match( "/^(\d{{$year}})(\d\d?)(\d\d?)(\d\d?)?(\d\d?)?(\d\d?)?/", $digits . $clock, $parts ) ) {
			return null;
		}
		if ( '.' === ( $rest[0] ?? '' ) && count( $parts ) > 6 ) {
			$parts[7] = (string) preg_replace( '/\D.*/s', '', substr( $rest, 1 ) );
		}
		return self::checked( $parts, $year, count( $parts ) > 4 );
	}

	/** Reads numbers such as 20240305 and 20240305142837. */
	private static function date_of_number( $number ): ?self {
		if ( ! is_finite( $number ) || $number < 0 || $number > 99991231235959 ) {
			return null;
		}
		$whole = (int) $number;
		if ( 0 === $whole ) {
			return new self();
		}
		$with_time = $whole > 99991231;
		$date      = $with_time ? intdiv( $whole, 1000000 ) : $whole;
		if ( $date < 101 ) {
			return null;
		}
		$short = $date <= 991231;
		$parts = [ '', intdiv( $date, 10000 ), intdiv( $date, 100 ) % 100, $date % 100 ];
		if ( $with_time ) {
			array_push( $parts, intdiv( $whole, 10000 ) % 100, intdiv( $whole, 100 ) % 100, $whole % 100 );
		}
		return self::checked( $parts, $short ? 2 : 4, $with_time );
	}

	/** @param array<int|string> $parts Year, month, day, hour, minute, second and fraction, from 1 on. */
	private static function checked( array $parts, int $year_digits, bool $with_time ): ?self {
		$date              = new self();
		$date->kind        = $with_time ? self::DATETIME : self::DATE;
		$date->year        = (int) $parts[1];
		$date->month       = (int) $parts[2];
		$date->day         = (int) $parts[3];
		$date->hour        = (int) ( $parts[4] ?? 0 );
		$date->minute      = (int) ( $parts[5] ?? 0 );
		$date->second      = (int) ( $parts[6] ?? 0 );
		$date->set_fraction( $parts[7] ?? null );
		if ( 2 >= $year_digits && ( 0 !== $date->year || 0 !== $date->month || 0 !== $date->day ) ) {
			$date->year += $date->year <= self::LAST_SHORT_YEAR ? 2000 : 1900;
		}
		return $date->is_valid() ? $date : null;
	}

	private function is_valid(): bool {
		if ( $this->year > 9999 || $this->month > 12 || $this->hour > 23 || $this->minute > 59 || $this->second > 59 ) {
			return false;
		}
		return 0 === $this->month ? $this->day <= 31 : $this->day <= self::days_in_month( $this->year, $this->month );
	}

	private function set_fraction( ?string $digits ): void {
		$this->digits      = min( 6, strlen( (string) $digits ) );
		$this->microsecond = (int) substr( str_pad( (string) $digits, 6, '0' ), 0, 6 );
	}

	private static function time_of_text( string $text ): ?self {
		$text = trim( $text, " \t\n\r\v\f" );
		if ( 1 === preg_match( '/^\d+[-\/.]\d+[-\/.]\d+[ T]+(\d+)(?::(\d+)(?::(\d+)(?:\.(\d*))?)?)?/', $text, $parts ) ) {
			return (int) $parts[1] > 23 ? null : self::duration( false, (int) $parts[1], (int) ( $parts[2] ?? 0 ), (int) ( $parts[3] ?? 0 ), $parts[4] ?? null );
		}
		if ( 1 === preg_match( '/^\d{4}-\d\d-\d\d$/D', $text ) ) {
			// As a text, MySQL takes it for 20 minutes and 24 seconds. But most dates are columns' values.
			return self::clock_of( self::date_of_text( $text ) );
		}
		if ( 1 === preg_match( '/^\d{12,}(?:\.|$)/', $text ) ) {
			return self::clock_of( self::date_of_text( $text ) );
		}
		if ( 1 === preg_match( '/^(-?)(?:(\d+) +)?(\d+):(\d+)(?::(\d+))?(?:\.(\d*))?/', $text, $parts ) ) {
			return self::duration( '-' === $parts[1], (int) $parts[2] * 24 + (int) $parts[3], (int) $parts[4], (int) ( $parts[5] ?? 0 ), $parts[6] ?? null );
		}
		if ( 1 === preg_match( '/^(-?)(\d+) +(\d+)/', $text, $parts ) ) {
			return self::duration( '-' === $parts[1], (int) $parts[2] * 24 + (int) $parts[3], 0, 0, null );
		}
		if ( 1 !== preg_match( '/^(-?)(\d+)(?:\.(\d*))?/', $text, $parts ) ) {
			return null;
		}
		return self::duration_of_digits( '-' === $parts[1], (int) $parts[2], $parts[3] ?? null );
	}

	private static function clock_of( ?self $date ): ?self {
		if ( null !== $date ) {
			$date->kind = self::TIME;
			$date->year = $date->month = $date->day = 0;
		}
		return $date;
	}

	/** Reads 142837 as 14:28:37. */
	private static function time_of_number( $number ): ?self {
		if ( ! is_finite( $number ) ) {
			return null;
		}
		$whole = (int) abs( $number );
		if ( $whole > 9999999 ) {
			return self::clock_of( self::date_of_number( $number ) );
		}
		$fraction = is_int( $number ) ? null : substr( sprintf( '%.6F', abs( $number ) - $whole ), 2 );
		return self::duration_of_digits( $number < 0, $whole, $fraction );
	}

	private static function duration_of_digits( bool $negative, int $digits, ?string $fraction ): ?self {
		return self::duration( $negative, intdiv( $digits, 10000 ), intdiv( $digits, 100 ) % 100, $digits % 100, $fraction );
	}

	private static function duration( bool $negative, int $hours, int $minutes, int $seconds, ?string $fraction ): ?self {
		if ( $minutes > 59 || $seconds > 59 ) {
			return null;
		}
		$time           = new self();
		$time->kind     = self::TIME;
		$time->negative = $negative;
		$time->set_fraction( $fraction );
		$within       = $hours <= self::MAX_HOURS;
		$time->hour   = $within ? $hours : self::MAX_HOURS;
		$time->minute = $within ? $minutes : 59;
		$time->second = $within ? $seconds : 59;
		return $time;
	}

	/** @return int[] Year, month and day. */
	private static function civil( int $number ): array {
		if ( $number <= 365 || $number >= 3652500 ) {
			return [ 0, 0, 0 ];
		}
		// Years that begin in March end with the leap day. Day 60 is 1 March of the year 0.
		$days         = $number - 60;
		$era          = intdiv( $days, 146097 );
		$day_of_era   = $days % 146097;
		$leap_days    = intdiv( $day_of_era, 1460 ) - intdiv( $day_of_era, 36524 ) + intdiv( $day_of_era, 146096 );
		$year_of_era  = intdiv( $day_of_era - $leap_days, 365 );
		$day_of_year  = $day_of_era - ( 365 * $year_of_era + intdiv( $year_of_era, 4 ) - intdiv( $year_of_era, 100 ) );
		$month        = intdiv( 5 * $day_of_year + 2, 153 );
		$day          = $day_of_year - intdiv( 153 * $month + 2, 5 ) + 1;
		$month        = $month < 10 ? $month + 3 : $month - 9;
		return [ $year_of_era + $era * 400 + ( $month <= 2 ? 1 : 0 ), $month, $day ];
	}
}
