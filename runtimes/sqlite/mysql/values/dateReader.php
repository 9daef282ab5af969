<?php
namespace WP_MySQL_Layer;

/** Reads a date in a format, for STR_TO_DATE. */
final class Date_Reader {
	private string $text;
	private int $at = 0;
	private Temporal $date;
	private ?int $hour_of_half = null;
	private ?bool $afternoon   = null;
	private ?int $day_of_year  = null;
	private ?int $weekday      = null;
	private ?int $week         = null;
	private ?int $week_year    = null;
	private string $week_kind  = '';

	public function __construct( string $text ) {
		$this->text = $text;
		$this->date = new Temporal();
	}

	/** Returns whether the text begins as the format says. */
	public function read( string $format ): bool {
		$this->skip_spaces();
		$length = strlen( $format );
		for ( $at = 0; $at < $length && $this->at < strlen( $this->text ); $at++ ) {
			$this->skip_spaces();
			$character = $format[ $at ];
			if ( '%' === $character && $at + 1 < $length ) {
				++$at;
				if ( ! $this->read_part( $format[ $at ] ) ) {
					return false;
				}
			} elseif ( ! ctype_space( $character ) ) {
				if ( ( $this->text[ $this->at ] ?? '' ) !== $character ) {
					return false;
				}
				++$this->at;
			}
		}
		return $this->put_together();
	}

	public function result( string $kind ): ?Temporal {
		$this->date->kind = $kind;
		$date             = $this->date;
		$valid            = $date->month <= 12 && $date->hour <= 23 && $date->minute <= 59 && $date->second <= 59
			&& $date->day <= 31;
		return $valid ? $date : null;
	}

	private function read_part( string $specifier ): bool {
		switch ( $specifier ) {
			case 'Y':
				return $this->read_year( 4 );
			case 'y':
				return $this->read_year( 2 );
			case 'm':
			case 'c':
				return $this->read_number( 2, $this->date->month );
			case 'M':
				return $this->read_name( Date_Format::MONTHS, 0, $this->date->month );
			case 'b':
				return $this->read_name( Date_Format::MONTHS, 3, $this->date->month );
			case 'd':
			case 'e':
				return $this->read_number( 2, $this->date->day );
			case 'D':
				if ( ! $this->read_number( 2, $this->date->day ) ) {
					return false;
				}
				$this->at += 2;
				return true;
			case 'H':
			case 'k':
				return $this->read_number( 2, $this->date->hour );
			case 'h':
			case 'I':
			case 'l':
				return $this->read_number( 2, $this->hour_of_half ) && $this->hour_of_half >= 1 && $this->hour_of_half <= 12;
			case 'i':
				return $this->read_number( 2, $this->date->minute );
			case 'S':
			case 's':
				return $this->read_number( 2, $this->date->second );
			case 'f':
				return $this->read_fraction();
			case 'p':
				return $this->read_half();
			case 'W':
				return $this->read_name( Date_Format::DAYS, 0, $this->weekday );
			case 'a':
				return $this->read_name( Date_Format::DAYS, 3, $this->weekday );
			case 'w':
				return $this->read_number( 1, $this->weekday ) && $this->weekday <= 6;
			case 'j':
				return $this->read_number( 3, $this->day_of_year ) && $this->day_of_year >= 1 && $this->day_of_year <= 366;
			case 'U':
			case 'u':
			case 'V':
			case 'v':
				$this->week_kind = $specifier;
				return $this->read_number( 2, $this->week ) && $this->week <= 53;
			case 'X':
			case 'x':
				return $this->read_number( 4, $this->week_year );
			case '.':
				return $this->skip( '[[:punct:]]*' );
			case '@':
				return $this->skip( '[[:alpha:]]*' );
			case '#':
				return $this->skip( '\d*' );
			default:
				return $this->skip( preg_quote( $specifier, '/' ) );
		}
	}

	private function skip_spaces(): void {
		$this->at += strspn( $this->text, " \t\n\r\v\f", $this->at );
	}

	private function skip( string $pattern ): bool {
		if ( 1 !== preg_match( "/\G$pattern/", $this->text, $found, 0, $this->at ) ) {
			return false;
		}
		$this->at += strlen( $found[0] );
		return true;
	}

	private function read_number( int $digits, ?int &$number ): bool {
		if ( 1 !== preg_match( "/\G\d{1,$digits}/", $this->text, $found, 0, $this->at ) ) {
			return false;
		}
		$number    = (int) $found[0];
		$this->at += strlen( $found[0] );
		return true;
	}

	private function read_year( int $digits ): bool {
		$start = $this->at;
		if ( ! $this->read_number( $digits, $this->date->year ) ) {
			return false;
		}
		if ( $this->at - $start <= 2 ) {
			$this->date->year += $this->date->year <= Temporal::LAST_SHORT_YEAR ? 2000 : 1900;
		}
		return true;
	}

	private function read_fraction(): bool {
		if ( 1 !== preg_match( '/\G\d{1,6}/', $this->text, $found, 0, $this->at ) ) {
			return false;
		}
		$this->date->microsecond = (int) str_pad( $found[0], 6, '0' );
		$this->date->digits      = 6;
		$this->at               += strlen( $found[0] );
		return true;
	}

	private function read_half(): bool {
		$half = strtoupper( substr( $this->text, $this->at, 2 ) );
		if ( 'AM' !== $half && 'PM' !== $half ) {
			return false;
		}
		$this->afternoon = 'PM' === $half;
		$this->at       += 2;
		return true;
	}

	/** @param array<int, string> $names By number. */
	private function read_name( array $names, int $length, ?int &$number ): bool {
		foreach ( $names as $key => $name ) {
			$name = 0 === $length ? $name : substr( $name, 0, $length );
			if ( 0 === substr_compare( $this->text, $name, $this->at, strlen( $name ), true ) ) {
				$number    = $key;
				$this->at += strlen( $name );
				return true;
			}
		}
		return false;
	}

	/** Turns halves of days, days of the year and weeks into the date. */
	private function put_together(): bool {
		if ( null !== $this->hour_of_half ) {
			$this->date->hour = $this->hour_of_half % 12 + ( $this->afternoon ? 12 : 0 );
		} elseif ( null !== $this->afternoon ) {
			return false;
		}
		if ( null !== $this->day_of_year ) {
			return $this->set_days( Temporal::day_number( $this->date->year, 1, 1 ) + $this->day_of_year - 1 );
		}
		if ( null === $this->week || null === $this->weekday ) {
			return true;
		}
		$strict = 'V' === $this->week_kind || 'v' === $this->week_kind;
		if ( $strict === ( null === $this->week_year ) ) {
			return false;
		}
		return $this->set_days( $this->day_in_week( $strict ? $this->week_year : $this->date->year ) );
	}

	private function day_in_week( int $year ): int {
		$sunday_first = 'U' === $this->week_kind || 'V' === $this->week_kind;
		$first        = Temporal::day_number( $year, 1, 1 );
		$first_day    = ( $first + ( $sunday_first ? 6 : 5 ) ) % 7;
		if ( $sunday_first ) {
			return $first + ( 0 === $first_day ? 0 : 7 ) - $first_day + ( $this->week - 1 ) * 7 + $this->weekday;
		}
		return $first + ( $first_day <= 3 ? 0 : 7 ) - $first_day + ( $this->week - 1 ) * 7 + ( $this->weekday + 6 ) % 7;
	}

	private function set_days( int $days ): bool {
		if ( $days <= 0 || $days > 3652424 ) {
			return false;
		}
		$date = Temporal::of_day_number( $days );
		list( $this->date->year, $this->date->month, $this->date->day ) = [ $date->year, $date->month, $date->day ];
		return true;
	}
}
