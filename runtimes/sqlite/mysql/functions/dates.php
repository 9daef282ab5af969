<?php
namespace WP_MySQL_Layer;

use DateTimeImmutable;
use DateTimeZone;
use Exception;

/**
 * MySQL's functions about dates and times, but for formats and intervals.
 * https://dev.mysql.com/doc/refman/8.0/en/date-and-time-functions.html
 */
final class Date_Functions extends Function_Set {
	public const VOLATILE = [ 'now', 'curdate', 'curtime', 'mysql_today_at', 'unix_timestamp', 'utc_date', 'utc_time', 'utc_timestamp' ];
	public const ARGUMENTS = [
		...[ 'year' => 1, 'month' => 1, 'day' => 1, 'hour' => 1, 'minute' => 1, 'second' => 1, 'weekday' => 1, 'dayofweek' => 1 ],
		...[ 'dayofmonth' => 1, 'week' => [ 1, 2 ], 'datediff' => 2, 'curdate' => 0, 'now' => [ 0, 1 ], 'localtime' => [ 0, 1 ] ],
		...[ 'localtimestamp' => [ 0, 1 ], 'unix_timestamp' => [ 0, 1 ], 'utc_date' => [ 0, 1 ], 'utc_time' => [ 0, 1 ] ],
		...[ 'utc_timestamp' => [ 0, 1 ] ],
	];
	public const WITH_NULL = [ 'week', 'yearweek' ];

	/** Days up to 1970-01-01. */
	private const EPOCH = 719528;

	public static function year( $date ) {
		return Temporal::date( $date )?->year;
	}

	public static function month( $date ) {
		return Temporal::date( $date )?->month;
	}

	public static function day( $date ) {
		return Temporal::date( $date )?->day;
	}

	public static function quarter( $date ) {
		$month = Temporal::date( $date )?->month;
		return null === $month ? null : intdiv( $month + 2, 3 );
	}

	public static function hour( $time ) {
		return Temporal::time( $time )?->hour;
	}

	public static function minute( $time ) {
		return Temporal::time( $time )?->minute;
	}

	public static function second( $time ) {
		return Temporal::time( $time )?->second;
	}

	public static function microsecond( $time ) {
		return Temporal::time( $time )?->microsecond;
	}

	public static function weekday( $date ) {
		return Temporal::real_date( $date )?->weekday();
	}

	public static function dayofyear( $date ) {
		return Calendar::day_of_year( Temporal::real_date( $date ) );
	}

	public static function dayname( $date ) {
		return Date_Format::DAYS[ Temporal::real_date( $date )?->weekday( true ) ?? 7 ] ?? null;
	}

	public static function monthname( $date ) {
		return Date_Format::MONTHS[ Temporal::date( $date )?->month ?? 0 ] ?? null;
	}

	public static function weekofyear( $date ) {
		return self::week( $date, 3 );
	}

	public static function to_days( $date ) {
		return Temporal::real_date( $date )?->days();
	}

	public static function addtime( $start, $time ) {
		return self::add_time( $start, $time, 1 );
	}

	public static function subtime( $start, $time ) {
		return self::add_time( $start, $time, -1 );
	}

	public static function mysql_date( $date ) {
		return Temporal::date( $date )?->date_text();
	}

	public function now( $digits = 0 ) {
		return self::present( (int) $digits, $this->offset() )->text();
	}

	public function curdate() {
		return self::present( 0, $this->offset() )->date_text();
	}

	/** Returns today's date with a time, which may be that of another day. */
	public function mysql_today_at( $time ): ?string {
		$time  = Temporal::time( $time );
		$today = Temporal::real_date( $this->curdate() );
		return null === $time ? null : Temporal::of_microseconds( $today->microseconds() + $time->microseconds() )?->text();
	}

	public function curtime( $digits = 0 ) {
		return self::present( (int) $digits, $this->offset() )->time_text();
	}

	public static function utc_timestamp( $digits = 0 ) {
		return self::present( (int) $digits )->text();
	}

	public static function utc_date( $digits = 0 ) {
		return self::present()->date_text();
	}

	public static function utc_time( $digits = 0 ) {
		return self::present( (int) $digits )->time_text();
	}

	/** @param int $week_mode WEEK's second argument. */
	public static function week( $date, $mode = 0 ): ?int {
		$date = Temporal::real_date( $date );
		return null === $date ? null : Calendar::week_of( $date, Calendar::mode( (int) $mode ) )[0];
	}

	public static function yearweek( $date, $mode = 0 ): ?int {
		$date = Temporal::real_date( $date );
		if ( null === $date ) {
			return null;
		}
		list( $week, $year ) = Calendar::week_of( $date, Calendar::mode( (int) $mode ) | Calendar::WEEK_OF_YEAR );
		return $year * 100 + $week;
	}

	public static function dayofweek( $date ): ?int {
		$date = Temporal::real_date( $date );
		return null === $date ? null : $date->weekday( true ) + 1;
	}

	public static function to_seconds( $date ): ?string {
		$date = Temporal::real_date( $date );
		return null === $date ? null : (string) intdiv( $date->microseconds(), 1000000 );
	}

	public static function from_days( $days ): ?string {
		return Temporal::of_day_number( Number::integer( $days ) )->date_text();
	}

	public static function datediff( $end, $start ): ?int {
		$end   = Temporal::real_date( $end );
		$start = Temporal::real_date( $start );
		return null === $end || null === $start ? null : $end->days() - $start->days();
	}

	public static function last_day( $date ): ?string {
		$date = Temporal::date( $date );
		if ( null === $date || 0 === $date->month ) {
			return null;
		}
		$date->day = Temporal::days_in_month( $date->year, $date->month );
		return $date->date_text();
	}

	public static function makedate( $year, $day ): ?string {
		$year = Number::integer( $year );
		$day  = Number::integer( $day );
		if ( $year < 0 || $year > 9999 || $day <= 0 ) {
			return null;
		}
		if ( $year < 100 ) {
			$year += $year <= Temporal::LAST_SHORT_YEAR ? 2000 : 1900;
		}
		$days = Temporal::day_number( $year, 1, 1 ) + $day - 1;
		return $days > 3652424 ? null : Temporal::of_day_number( $days )->date_text();
	}

	public static function maketime( $hour, $minute, $second ): ?string {
		$hour   = Number::integer( $hour );
		$minute = Number::integer( $minute );
		$second = Number::number( $second );
		if ( $minute < 0 || $minute > 59 || $second < 0 || $second >= 60 ) {
			return null;
		}
		$clock = ( min( abs( $hour ), 1000 ) * 60 + $minute ) * 60000000 + (int) round( $second * 1000000 );
		return Temporal::of_duration( $hour < 0 ? -$clock : $clock )->with_digits( Number::digits( $second ) )->text();
	}

	public static function sec_to_time( $seconds ): ?string {
		$seconds = max( -4000000, min( 4000000, Number::number( $seconds ) ) );
		return Temporal::of_duration( (int) round( $seconds * 1000000 ) )->with_digits( Number::digits( $seconds ) )->text();
	}

	public static function time_to_sec( $time ): ?int {
		$time = Temporal::time( $time );
		if ( null === $time ) {
			return null;
		}
		$seconds = intdiv( $time->clock(), 1000000 );
		return $time->negative ? -$seconds : $seconds;
	}

	public static function timediff( $end, $start ): ?string {
		$end   = self::moment( $end );
		$start = self::moment( $start );
		if ( null === $end || null === $start || $end->kind !== $start->kind ) {
			return null;
		}
		$difference = Temporal::of_duration( $end->microseconds() - $start->microseconds() );
		return $difference->with_digits( max( $end->digits, $start->digits ) )->text();
	}

	public static function timestamp( $date, $time = '0' ): ?string {
		$date = Temporal::date( $date );
		$time = Temporal::time( $time );
		if ( null === $date || null === $time ) {
			return null;
		}
		$date->kind = Temporal::DATETIME;
		if ( 0 === $time->clock() ) {
			return $date->text();
		}
		return Temporal::of_microseconds( $date->microseconds() + $time->microseconds() )?->text();
	}

	public static function mysql_time( $value ): ?string {
		return Temporal::time( $value )?->time_text();
	}

	public static function period_add( $period, $months ): ?int {
		$period = Number::integer( $period );
		return 0 === $period ? 0 : self::period( self::months( $period ) + Number::integer( $months ) );
	}

	public static function period_diff( $end, $start ): ?int {
		return self::months( Number::integer( $end ) ) - self::months( Number::integer( $start ) );
	}

	public static function convert_tz( $date, $from, $to ): ?string {
		$date = Temporal::real_date( $date );
		$from = self::zone( $from );
		$to   = self::zone( $to );
		if ( null === $date || null === $from || null === $to ) {
			return null;
		}
		$date->kind = Temporal::DATETIME;
		$local      = new DateTimeImmutable( $date->date_text() . sprintf( ' %02d:%02d:%02d', $date->hour, $date->minute, $date->second ), $from );
		$unix       = $local->getTimestamp();
		if ( $unix <= 0 || $unix > Temporal::LAST_UNIX_SECOND ) {
			return $date->text();
		}
		$there = Temporal::of_unix( $unix + $to->getOffset( $local ), $date->microsecond );
		return $there->with_digits( $date->digits )->text();
	}

	public function unix_timestamp( $date = false ): ?string {
		if ( false === $date ) {
			return (string) time();
		}
		$date = Temporal::date( $date );
		if ( null === $date ) {
			return null;
		}
		$seconds = ( $date->days() - self::EPOCH ) * 86400 + intdiv( $date->clock(), 1000000 ) - $this->offset();
		if ( 0 === $date->month || 0 === $date->day || $seconds < 0 || $seconds > Temporal::LAST_UNIX_SECOND ) {
			return '0';
		}
		return 0 === $date->digits ? (string) $seconds : $seconds . substr( $date->time_text(), 8 );
	}

	/** Seconds that the session's time zone is ahead of UTC. */
	private function offset(): int {
		return $this->driver->variables()->offset();
	}

	private static function present( int $digits = 0, int $offset = 0 ): Temporal {
		$now  = explode( ' ', microtime() );
		$date = Temporal::of_unix( (int) $now[1] + $offset, $digits > 0 ? (int) ( (float) $now[0] * 1000000 ) : 0 );
		return $date->with_digits( $digits );
	}

	/** Reads a date with a time as such, and all else as a time. */
	private static function moment( $value ): ?Temporal {
		$text = (string) $value;
		if ( 1 === preg_match( '/^\s*\d+[^\d:.\s]\d+[^\d:.\s]\d+[ T]+\d/', $text ) ) {
			$date = Temporal::date( $text );
			if ( null !== $date ) {
				$date->kind = Temporal::DATETIME;
			}
			return $date;
		}
		return Temporal::time( $value );
	}

	private static function add_time( $start, $time, int $sign ): ?string {
		// A date's midnight: most dates are columns' values.
		$start = self::moment( 1 === preg_match( '/^\d{4}-\d\d-\d\d$/D', (string) $start ) ? "$start 00:00:00" : $start );
		$time  = self::moment( $time );
		if ( null === $start || null === $time || Temporal::TIME !== $time->kind ) {
			return null;
		}
		$sum    = $start->microseconds() + $sign * $time->microseconds();
		$result = Temporal::TIME === $start->kind ? Temporal::of_duration( $sum ) : Temporal::of_microseconds( $sum );
		if ( null === $result ) {
			return null;
		}
		return $result->with_digits( 0 === max( $start->digits, $time->digits ) ? 0 : 6 )->text();
	}

	private static function months( int $period ): int {
		if ( 0 === $period ) {
			return 0;
		}
		$year = intdiv( $period, 100 );
		if ( $year < 100 ) {
			$year += $year <= Temporal::LAST_SHORT_YEAR ? 2000 : 1900;
		}
		return $year * 12 + $period % 100 - 1;
	}

	private static function period( int $months ): int {
		$year = intdiv( $months, 12 );
		if ( $year < 100 ) {
			$year += $year <= Temporal::LAST_SHORT_YEAR ? 2000 : 1900;
		}
		return $year * 100 + $months % 12 + 1;
	}

	/** Returns a time zone by its name or offset, or null if there is no such zone. */
	private static function zone( string $name ): ?DateTimeZone {
		if ( 'SYSTEM' === strtoupper( $name ) ) {
			return new DateTimeZone( 'UTC' );
		}
		$is_offset = 1 === preg_match( '/^(?:[+-](?:0?\d|1[0-3]):[0-5]\d|\+14:00)$/D', $name );
		if ( ! $is_offset && 1 !== preg_match( '/^[A-Za-z][A-Za-z0-9_\/+-]*$/D', $name ) ) {
			return null;
		}
		try {
			return new DateTimeZone( $name );
		} catch ( Exception $e ) {
			return null;
		}
	}
}
