grammar Calc;

program : (statement NEWLINE)* EOF ;

statement
    : 'let' ID '=' expression   # Let
    | 'print' expression        # Print
    |                           # Nothing
    ;

expression
    : expression op=('*' | '/') expression   # Product
    | expression op=('+' | '-') expression   # Sum
    | '(' expression ')'                     # Group
    | NUMBER                                 # Number
    | ID                                     # Name
    ;

ID : [a-z]+ ;
NUMBER : [0-9]+ ('.' [0-9]+)? ;
NEWLINE : '\r'? '\n' ;
SPACE : [ \t]+ -> skip ;
