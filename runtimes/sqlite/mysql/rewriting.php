<?php
namespace WP_MySQL_Layer;

use WeakMap;
use WP_Parser_Node;

/** One run of the rewriter over one statement: what a rule may ask and do besides looking at its node. */
final class Rewriting {
	public readonly Driver $driver;
	/** The nodes above the present one, from the root. @var WP_Parser_Node[] */
	public array $above = [];
	/** The queries, and statements with tables, among those. @var WP_Parser_Node[] */
	public array $queries = [];
	public readonly Scope $scope;
	public readonly Kinds $kinds;
	private Functions $functions;
	/** @var WeakMap<WP_Parser_Node, WP_Parser_Node> The nodes that rewritten ones have taken the place of. */
	private WeakMap $originals;

	public function __construct( Driver $driver, Functions $functions ) {
		$this->driver    = $driver;
		$this->functions = $functions;
		$this->scope     = new Scope( $driver->columns() );
		$this->kinds     = new Kinds( $this->scope, $this );
		$this->originals = new WeakMap();
	}

	/** The node of the statement as it was sent that a node has taken the place of, or the node itself. */
	public function original( WP_Parser_Node $node ): WP_Parser_Node {
		return $this->originals[ $node ] ?? $node;
	}

	/** The nearest node above the present one with one of these names, or null. */
	public function nearest( string ...$names ): ?WP_Parser_Node {
		for ( $i = count( $this->above ) - 1; $i >= 0; --$i ) {
			if ( in_array( $this->above[ $i ]->rule_name, $names, true ) ) {
				return $this->above[ $i ];
			}
		}
		return null;
	}

	/**
	 * Returns a call of a function of SQLite or of the layer, in the place of a node.
	 *
	 * @param array<WP_Parser_Node|\WP_MySQL_Token|string> $arguments Nodes, or expressions of SQLite.
	 */
	public function call( string $function, array $arguments, WP_Parser_Node $place ): WP_Parser_Node {
		$this->functions->register( $function );
		$parts = [ "$function(" ];
		foreach ( $arguments as $i => $argument ) {
			if ( $i > 0 ) {
				$parts[] = ',';
			}
			$parts[] = $argument;
		}
		$parts[] = ')';
		return $this->sequence( $parts, $place );
	}

	/**
	 * Returns nodes and pieces of SQLite's language, in the place of a node. Makes sure that nodes can't bring others
	 * in the wrong order: parentheses are up to the caller.
	 *
	 * @param array<WP_Parser_Node|\WP_MySQL_Token|string> $parts
	 */
	public function sequence( array $parts, WP_Parser_Node $place ): WP_Parser_Node {
		$start    = $place->get_start();
		$end      = Tree::end( $place );
		$sequence = new WP_Parser_Node( $place->rule_id, Tree::neutral_name( $place->rule_name ) );
		// The driver names a column after the text between the first and the last token.
		$sequence->append_child( new Fragment( '', $start, 0 ) );
		foreach ( $parts as $part ) {
			$sequence->append_child( is_string( $part ) ? new Fragment( $part, $start, 0 ) : $part );
		}
		$sequence->append_child( new Fragment( '', $end, 0 ) );
		$this->originals[ $sequence ] = $this->original( $place );
		return $sequence;
	}

	/** A text that is the same for all that MySQL takes for equal but for the case of ASCII letters. */
	public function folded( WP_Parser_Node $text ): WP_Parser_Node {
		$folded = $this->call( 'mysql_fold', [ $text ], $text );
		if ( null === $this->kinds->column( $text ) ) {
			return $folded;
		}
		// Without a call of PHP for each row.
		return $this->sequence( [ 'iif(', ...$this->beyond_ascii( $text ), ',', $folded, ',', $text, ')' ], $text );
	}

	/** A condition that a text has letters beyond ASCII. */
	public function beyond_ascii( WP_Parser_Node $text ): array {
		return [ 'octet_length(', $text, ') <> length(', $text, ')' ];
	}
}
