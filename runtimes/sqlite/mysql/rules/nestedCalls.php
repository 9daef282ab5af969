<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/**
 * Calls of functions within each other, as in REPLACE(REPLACE(…)). The driver translates the arguments of each call twice,
 * so that twenty calls would take a minute. Calls that it does not change are made a plain list of tokens for it.
 */
final class Nested_Calls implements Rule {
	/** Functions that the driver gives another form. */
	private const CHANGED = [ 'rand', 'date_format', 'char_length', 'concat', 'found_rows', 'version' ];

	public function nodes(): array {
		return [ 'functionCall' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$name = strtolower( $node->get_first_descendant_token()->get_value() );
		return in_array( $name, self::CHANGED, true ) ? null : $rewriting->sequence( $node->get_children(), $node );
	}
}
