<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** Units of time, and other keywords among arguments. */
final class Unit {
	/** Returns the keyword as a text of SQLite's. */
	public static function text( WP_Parser_Node $node ): string {
		return "'" . preg_replace( '/^SQL_TSI_/', '', strtoupper( $node->get_first_descendant_token()->get_value() ) ) . "'";
	}
}
