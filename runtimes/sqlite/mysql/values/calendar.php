<?php
namespace WP_MySQL_Layer;

/** Weeks and days of a year. */
final class Calendar {
	public const MONDAY_FIRST  = 1;
	public const WEEK_OF_YEAR  = 2;
	public const FIRST_WEEKDAY = 4;

	/**
	 * Returns the number of a date's week, and the year that the week belongs to.
	 *
	 * @param int $flags Of the constants above: whether weeks begin on Monday, whether they are counted from 1 and may belong
	 *                   to another year, and whether the first week begins with the year's first such weekday (else: it is
	 *                   the first with four days or more).
	 * @return int[]
	 */
	public static function week_of( Temporal $date, int $flags ): array {
		$of_year      = 0 !== ( $flags & self::WEEK_OF_YEAR );
		$starts_late  = static fn ( int $weekday ) => 0 !== ( $flags & self::FIRST_WEEKDAY ) ? 0 !== $weekday : $weekday >= 4;
		$year         = $date->year;
		$first        = Temporal::day_number( $year, 1, 1 );
		$sunday_first = 0 === ( $flags & self::MONDAY_FIRST );
		$weekday      = ( $first + ( $sunday_first ? 6 : 5 ) ) % 7;
		if ( 1 === $date->month && $date->day <= 7 - $weekday ) {
			if ( ! $of_year && $starts_late( $weekday ) ) {
				return [ 0, $year ];
			}
			$of_year = true;
			--$year;
			$days    = self::days_in_year( $year );
			$first  -= $days;
			$weekday = ( $weekday + 53 * 7 - $days ) % 7;
		}
		$days = $date->days() - $first + ( $starts_late( $weekday ) ? $weekday - 7 : $weekday );
		if ( $of_year && $days >= 52 * 7 ) {
			$next = ( $weekday + self::days_in_year( $year ) ) % 7;
			if ( ! $starts_late( $next ) ) {
				return [ 1, $year + 1 ];
			}
		}
		return [ intdiv( $days, 7 ) + 1, $year ];
	}

	public static function day_of_year( ?Temporal $date ): ?int {
		return null === $date ? null : $date->days() - Temporal::day_number( $date->year, 1, 1 ) + 1;
	}

	/** Without Monday as the first day, the third flag means its opposite. */
	public static function mode( int $mode ): int {
		$mode &= 7;
		return 0 === ( $mode & self::MONDAY_FIRST ) ? $mode ^ self::FIRST_WEEKDAY : $mode;
	}

	private static function days_in_year( int $year ): int {
		return Temporal::is_leap_year( $year ) ? 366 : 365;
	}
}
