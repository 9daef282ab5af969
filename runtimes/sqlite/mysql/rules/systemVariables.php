<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** `@@max_allowed_packet`: variables of the server that the session has not set. */
final class System_Variables implements Rule {
	public function nodes(): array {
		return [ 'systemVariable' ];
	}

	public function rewrite( WP_Parser_Node $node, Rewriting $rewriting ): ?WP_Parser_Node {
		$name      = strtolower( Schema::name_of( $node->get_first_child_node( 'textOrIdentifier' ) ) );
		$variables = $rewriting->driver->variables();
		if ( $variables->is_of_driver( $name ) ) {
			return self::of_session( $node );
		}
		$value = $variables->default_of( $name );
		if ( null === $value ) {
			return null;
		}
		$literal = is_int( $value ) ? (string) $value : $rewriting->driver->get_connection()->quote( $value );
		return $rewriting->sequence( [ $literal ], $node );
	}

	/** The driver has values of the session only. */
	private static function of_session( WP_Parser_Node $node ): ?WP_Parser_Node {
		if ( ! $node->has_child_node( 'varIdentType' ) ) {
			return null;
		}
		$children = array_filter(
			$node->get_children(),
			static fn ( $child ) => ! $child instanceof WP_Parser_Node || 'varIdentType' !== $child->rule_name
		);
		Tree::set_children( $node, array_values( $children ) );
		return $node;
	}
}
