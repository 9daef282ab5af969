<?php
namespace WP_MySQL_Layer;

/**
 * Points on a plane and on the earth, as finders of shops use them. A point is kept as its text, `POINT(longitude latitude)`.
 * https://dev.mysql.com/doc/refman/8.0/en/spatial-convenience-functions.html
 */
final class Point_Functions extends Function_Set {
	/** The radius of the earth in metres, as MySQL has it. */
	private const RADIUS = 6370986.0;

	public static function point( $x, $y ): ?string {
		return 'POINT(' . Number::tidy( Number::number( $x ) ) . ' ' . Number::tidy( Number::number( $y ) ) . ')';
	}

	public static function st_geomfromtext( $text, $reference = 0 ): ?string {
		$point = self::coordinates( $text );
		return null === $point ? null : self::point( ...$point );
	}

	public static function st_x( $point ): ?float {
		return self::coordinates( $point )[0] ?? null;
	}

	public static function st_y( $point ): ?float {
		return self::coordinates( $point )[1] ?? null;
	}

	public static function st_distance( $from, $to ): ?float {
		$from = self::coordinates( $from );
		$to   = self::coordinates( $to );
		return null === $from || null === $to ? null : hypot( $from[0] - $to[0], $from[1] - $to[1] );
	}

	/** The distance in metres by the haversine formula. */
	public static function st_distance_sphere( $from, $to, $radius = self::RADIUS ): ?float {
		$from = self::coordinates( $from );
		$to   = self::coordinates( $to );
		if ( null === $from || null === $to || null === $radius ) {
			return null;
		}
		[ $longitude, $latitude ]             = array_map( 'deg2rad', $from );
		[ $other_longitude, $other_latitude ] = array_map( 'deg2rad', $to );
		$half = sin( ( $other_latitude - $latitude ) / 2 ) ** 2
			+ cos( $latitude ) * cos( $other_latitude ) * sin( ( $other_longitude - $longitude ) / 2 ) ** 2;
		return 2 * (float) Number::number( $radius ) * asin( min( 1.0, sqrt( $half ) ) );
	}

	/** @return float[]|null */
	private static function coordinates( $text ): ?array {
		$number = '([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)';
		return null !== $text && 1 === preg_match( "/^\\s*POINT\\s*\\(\\s*$number\\s+$number\\s*\\)\\s*$/i", (string) $text, $found )
			? [ (float) $found[1], (float) $found[2] ]
			: null;
	}
}
