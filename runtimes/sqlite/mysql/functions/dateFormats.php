<?php
namespace WP_MySQL_Layer;

/**
 * DATE_FORMAT, TIME_FORMAT, STR_TO_DATE, FROM_UNIXTIME and GET_FORMAT.
 * https://dev.mysql.com/doc/refman/8.0/en/date-and-time-functions.html#function_date-format
 */
final class Date_Format_Functions extends Function_Set {
	public const ARGUMENTS = [
		'from_unixtime' => [ 1, 2 ],
	];


	private const STANDARDS = [
		'EUR'      => [ '%d.%m.%Y', '%H.%i.%s', '%Y-%m-%d %H.%i.%s' ],
		'INTERNAL' => [ '%Y%m%d', '%H%i%s', '%Y%m%d%H%i%s' ],
		'ISO'      => [ '%Y-%m-%d', '%H:%i:%s', '%Y-%m-%d %H:%i:%s' ],
		'JIS'      => [ '%Y-%m-%d', '%H:%i:%s', '%Y-%m-%d %H:%i:%s' ],
		'USA'      => [ '%m.%d.%Y', '%h:%i:%s %p', '%Y-%m-%d %H.%i.%s' ],
	];

	public static function mysql_date_format( $date, $format ) {
		return Date_Format::format( Temporal::date( $date ), $format );
	}

	public static function time_format( $time, $format ) {
		return Date_Format::format( Temporal::time( $time ), $format );
	}

	public function from_unixtime( $seconds, $format = false ): ?string {
		$seconds = Number::number( $seconds );
		if ( $seconds < 0 || $seconds > Temporal::LAST_UNIX_SECOND ) {
			return null;
		}
		$microsecond = is_int( $seconds ) ? 0 : (int) round( ( $seconds - floor( $seconds ) ) * 1000000 );
		$date        = Temporal::of_unix( (int) $seconds + $this->driver->variables()->offset(), $microsecond );
		$date->with_digits( Number::digits( $seconds ) );
		return false === $format ? $date->text() : Date_Format::format( $date, $format );
	}

	/** @param string $kind DATE, TIME or DATETIME. */
	public static function get_format( $kind, $standard ): ?string {
		$kinds = [ 'DATE' => 0, 'TIME' => 1, 'DATETIME' => 2, 'TIMESTAMP' => 2 ];
		return self::STANDARDS[ strtoupper( (string) $standard ) ][ $kinds[ strtoupper( $kind ) ] ] ?? null;
	}

	public static function str_to_date( $text, $format ): ?string {
		$reader = new Date_Reader( $text );
		if ( ! $reader->read( self::spelled_out( $format ) ) ) {
			return null;
		}
		return $reader->result( self::kind_of( $format ) )?->text();
	}

	private static function spelled_out( string $format ): string {
		return strtr( $format, [ '%%' => '%%', '%r' => '%I:%i:%S %p', '%T' => '%H:%i:%S' ] );
	}

	/** A format of dates only gives a date, and so on. */
	private static function kind_of( string $format ): string {
		$has_clock = 1 === preg_match( '/%[HhIklipSsTrf]/', $format );
		$has_date  = 1 === preg_match( '/%[YyMmbcDdejUuVvWwaXx]/', $format );
		if ( ! $has_clock ) {
			return Temporal::DATE;
		}
		return $has_date ? Temporal::DATETIME : Temporal::TIME;
	}
}
