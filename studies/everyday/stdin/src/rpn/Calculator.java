package rpn;

import java.util.HashMap;
import java.util.Map;
import java.util.Stack;

public class Calculator {
    private final Stack<Long> stack = new Stack<>();
    private final Map<String, Integer> used = new HashMap<>();

    public void word(String word) {
        used.merge(word, 1, Integer::sum);
        switch (word) {
            case "+" -> stack.push(stack.pop() + stack.pop());
            case "*" -> stack.push(stack.pop() * stack.pop());
            case "-" -> {
                long right = stack.pop();
                stack.push(stack.pop() - right);
            }
            case "/" -> {
                long right = stack.pop();
                stack.push(stack.pop() / right);
            }
            case "dup" -> stack.push(stack.peek());
            default -> stack.push(Long.parseLong(word));
        }
    }

    public String line(String line) {
        stack.clear();
        for (String word : line.trim().split("\\s+")) {
            word(word);
        }
        return stack.size() == 1 ? stack.pop().toString() : "error";
    }
}
