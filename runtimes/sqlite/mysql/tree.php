<?php
namespace WP_MySQL_Layer;

use WP_Parser_Node;

/** A piece of SQLite's language among the tokens of a statement. The driver passes it on as it is. */
final class Fragment extends \WP_MySQL_Token {
	/** No token of MySQL. */
	private const ID = -100;

	private string $text;

	/** The position of the original text in the statement as it was sent. */
	public function __construct( string $text, int $start, int $length ) {
		parent::__construct( self::ID, $start, $length, '', false );
		$this->text = $text;
	}

	public function get_value(): string {
		return $this->text;
	}

	public function get_bytes(): string {
		return $this->text;
	}
}

/** Access to the tree of a statement that its nodes don't offer. */
final class Tree extends WP_Parser_Node {
	/** Nodes that the driver translates in special ways; all others are translated part by part. */
	private const SPECIAL = [
		'queryExpression'     => true,
		'querySpecification'  => true,
		'selectItem'          => true,
		'simpleExprBody'      => true,
		'predicateOperations' => true,
		'runtimeFunctionCall' => true,
		'functionCall'        => true,
		'substringFunction'   => true,
		'systemVariable'      => true,
		'userVariable'        => true,
		'textStringLiteral'   => true,
		'fromClause'          => true,
		'tableRef'            => true,
		'identifierKeyword'   => true,
	];

	/** Returns where a node ends in the statement. Unlike the node's own length, without a list of all its tokens. */
	public static function end( WP_Parser_Node $node ): int {
		$last = self::last_token( $node );
		return $last->start + $last->length;
	}

	private static function last_token( WP_Parser_Node $node ): ?\WP_MySQL_Token {
		foreach ( array_reverse( $node->children ) as $child ) {
			$token = $child instanceof WP_Parser_Node ? self::last_token( $child ) : $child;
			if ( null !== $token ) {
				return $token;
			}
		}
		return null;
	}

	/** Replaces a node's children. */
	public static function set_children( WP_Parser_Node $node, array $children ): void {
		$node->children = $children;
	}

	/** Makes names with letters beyond ASCII pieces of SQLite's language. The driver would refuse them, also as names of results. */
	public static function quote_names( WP_Parser_Node $statement ): void {
		foreach ( $statement->get_descendant_nodes( 'pureIdentifier' ) as $name ) {
			$token = $name->get_first_child_token();
			if ( null !== $token && Letters::beyond_ascii( $token->get_bytes() ) ) {
				$name->rule_name = 'rewritten';
				$name->children  = [ new Fragment( Schema::quoted( $token->get_value() ), $token->start, $token->length ) ];
			}
		}
	}

	/** Returns a name for a rewritten node: its own, unless the driver would translate it in a special way. */
	public static function neutral_name( string $name ): string {
		return isset( self::SPECIAL[ $name ] ) ? 'rewritten' : $name;
	}
}
