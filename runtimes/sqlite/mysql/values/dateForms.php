<?php
namespace WP_MySQL_Layer;

/**
 * Literal dates and times in the form in which columns keep them: MySQL takes `2024/3/5` and `20240305` for `2024-03-05`, and
 * `9:00` for `09:00:00`, too.
 */
final class Date_Forms {
	private const DATE   = '/^\d{4}-\d\d-\d\d$/D';
	private const MOMENT = '/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/D';
	private const CLOCK  = '/^\d\d:\d\d:\d\d$/D';
	/** Texts that may be times without a date. */
	private const OTHER_CLOCKS = '/^(?:-?\d{1,3}:\d{1,2}(?::\d{1,2})?|\d{1,7})$/D';
	/** Texts that may be dates, but without fractions of seconds and time zones. */
	private const OTHERS = '/^(?:\d{8}(?:\d{6})?|\d{4}[-\/.:]\d{1,2}[-\/.:]\d{1,2}(?:[ T]\d{1,2}(?::\d{1,2}){0,2})?)$/D';

	/** Whether a literal has a day beyond the end of its month, which SQLite takes for one of the next month. */
	public static function has_no_such_day( string $literal ): bool {
		return 1 === preg_match( '/^(\d{4})-(\d\d)-(29|30|31)\b/', $literal, $parts ) && ! checkdate( (int) $parts[2], (int) $parts[3], (int) $parts[1] );
	}

	/** Returns a literal in a column's form; null if it is in this form, or no date. @param int $time As in columns. */
	public static function of( string $literal, int $time ): ?string {
		if ( Columns::CLOCK === $time ) {
			return self::of_clock( $literal );
		}
		$is_moment = Columns::MOMENT === $time;
		if ( 1 === preg_match( $is_moment ? self::MOMENT : self::DATE, $literal ) ) {
			return null;
		}
		if ( 1 === preg_match( self::DATE, $literal ) ) {
			return "$literal 00:00:00";
		}
		$date = 1 === preg_match( self::OTHERS, $literal ) ? Temporal::date( $literal ) : null;
		if ( null === $date ) {
			return null;
		}
		return $is_moment ? $date->date_text() . ' ' . $date->time_text() : $date->date_text();
	}

	private static function of_clock( string $literal ): ?string {
		$is_other = 1 !== preg_match( self::CLOCK, $literal ) && 1 === preg_match( self::OTHER_CLOCKS, $literal );
		return $is_other ? Temporal::time( $literal )?->time_text() : null;
	}

	/**
	 * As `of`, for comparisons: a date without a time is compared with one that has a time as midnight, and `''` and `'0'` as the
	 * date without a year. MySQL 8 refuses these two; MariaDB and earlier versions compare them so, and plugins send `date != ''`.
	 */
	public static function compared( string $literal, int $time ): ?string {
		if ( Columns::CLOCK === $time ) {
			return self::of_clock( $literal );
		}
		if ( '' === $literal || '0' === $literal ) {
			return Columns::MOMENT === $time ? '0000-00-00 00:00:00' : '0000-00-00';
		}
		$form = self::of( $literal, $time );
		if ( null === $form || Columns::MOMENT === $time ) {
			return $form;
		}
		$moment = self::of( $literal, Columns::MOMENT ) ?? $literal;
		return str_ends_with( $moment, ' 00:00:00' ) ? $form : $moment;
	}
}
