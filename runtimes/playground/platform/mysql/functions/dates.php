<?php
namespace WP_MySQL_Layer;

final class Date_Functions extends Function_Set {
	public function quarter( $date ): ?int {
		if ( null === $date || 1 !== preg_match( '/^\d{4}-(\d{2})-\d{2}/', (string) $date, $parts ) ) {
			return null;
		}
		return intdiv( (int) $parts[1] + 2, 3 );
	}
}
