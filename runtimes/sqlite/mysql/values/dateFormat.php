<?php
namespace WP_MySQL_Layer;

/** Dates and times in the formats of DATE_FORMAT. */
final class Date_Format {
	const MONTHS = [ 1 => 'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December' ];
	const DAYS   = [ 'Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday' ];
	/** The weeks of %U, %u, %V and %v (see Calendar::week_of). */
	private const WEEKS = [
		'U' => 4,
		'u' => 1,
		'V' => 6,
		'v' => 3,
		'X' => 6,
		'x' => 3,
	];

	public static function format( ?Temporal $date, $format ): ?string {
		if ( null === $date || null === $format || '' === $format ) {
			return null;
		}
		$text   = $date->negative ? '-' : '';
		$length = strlen( $format );
		for ( $at = 0; $at < $length; $at++ ) {
			$next = strcspn( $format, '%', $at );
			$text .= substr( $format, $at, $next );
			$at   += $next + 1;
			if ( $at > $length ) {
				break;
			}
			if ( $at === $length ) {
				return $text . '%';
			}
			$part = self::part( $date, $format[ $at ] );
			if ( null === $part ) {
				return null;
			}
			$text .= $part;
		}
		return $text;
	}

	/** Returns what one specifier stands for, or null if the date has no such part. */
	private static function part( Temporal $date, string $specifier ): ?string {
		$is_time = Temporal::TIME === $date->kind;
		switch ( $specifier ) {
			case 'Y':
				return sprintf( '%04d', $date->year );
			case 'y':
				return sprintf( '%02d', $date->year % 100 );
			case 'm':
				return sprintf( '%02d', $date->month );
			case 'c':
				return (string) $date->month;
			case 'M':
				return self::MONTHS[ $date->month ] ?? null;
			case 'b':
				return isset( self::MONTHS[ $date->month ] ) ? substr( self::MONTHS[ $date->month ], 0, 3 ) : null;
			case 'd':
				return sprintf( '%02d', $date->day );
			case 'e':
				return (string) $date->day;
			case 'D':
				return $date->day . self::ordinal_suffix( $date->day );
			case 'j':
				return $is_time || 0 === $date->month || 0 === $date->day ? null : sprintf( '%03d', Calendar::day_of_year( $date ) );
			case 'W':
				return $is_time || $date->is_zero() ? null : self::DAYS[ $date->weekday( true ) ];
			case 'a':
				return $is_time || $date->is_zero() ? null : substr( self::DAYS[ $date->weekday( true ) ], 0, 3 );
			case 'w':
				return $is_time || $date->is_zero() ? null : (string) $date->weekday( true );
			case 'U':
			case 'u':
			case 'V':
			case 'v':
				return $is_time ? null : sprintf( '%02d', Calendar::week_of( $date, self::WEEKS[ $specifier ] )[0] );
			case 'X':
			case 'x':
				return $is_time ? null : sprintf( '%04d', Calendar::week_of( $date, self::WEEKS[ $specifier ] )[1] );
			default:
				return self::clock_part( $date, $specifier );
		}
	}

	private static function clock_part( Temporal $date, string $specifier ): string {
		$half = ( $date->hour % 24 + 11 ) % 12 + 1;
		switch ( $specifier ) {
			case 'H':
				return sprintf( '%02d', $date->hour );
			case 'k':
				return (string) $date->hour;
			case 'h':
			case 'I':
				return sprintf( '%02d', $half );
			case 'l':
				return (string) $half;
			case 'i':
				return sprintf( '%02d', $date->minute );
			case 'S':
			case 's':
				return sprintf( '%02d', $date->second );
			case 'f':
				return sprintf( '%06d', $date->microsecond );
			case 'p':
				return $date->hour % 24 < 12 ? 'AM' : 'PM';
			case 'r':
				return sprintf( '%02d:%02d:%02d %s', $half, $date->minute, $date->second, $date->hour % 24 < 12 ? 'AM' : 'PM' );
			case 'T':
				return sprintf( '%02d:%02d:%02d', $date->hour, $date->minute, $date->second );
			default:
				return $specifier;
		}
	}

	private static function ordinal_suffix( int $day ): string {
		if ( $day >= 10 && $day <= 19 ) {
			return 'th';
		}
		return [ 1 => 'st', 2 => 'nd', 3 => 'rd' ][ $day % 10 ] ?? 'th';
	}
}
