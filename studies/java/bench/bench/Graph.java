package bench;

import java.util.Random;
import org.jgrapht.alg.connectivity.KosarajuStrongConnectivityInspector;
import org.jgrapht.alg.scoring.PageRank;
import org.jgrapht.alg.shortestpath.DijkstraShortestPath;
import org.jgrapht.alg.spanning.KruskalMinimumSpanningTree;
import org.jgrapht.graph.AsUndirectedGraph;
import org.jgrapht.graph.DefaultWeightedEdge;
import org.jgrapht.graph.SimpleDirectedWeightedGraph;
import org.jgrapht.traverse.BreadthFirstIterator;
import org.jgrapht.traverse.TopologicalOrderIterator;

/** Building object graphs: JGraphT builds networks and walks them. */
final class Graph implements Workload {
    private static final int VERTICES = 300, EDGES = 1200;

    @Override
    public long iteration(int number) {
        Random random = new Random(number % 64);
        SimpleDirectedWeightedGraph<String, DefaultWeightedEdge> graph =
                new SimpleDirectedWeightedGraph<>(DefaultWeightedEdge.class);
        String[] names = new String[VERTICES];
        for (int i = 0; i < VERTICES; i++) {
            names[i] = "v" + i;
            graph.addVertex(names[i]);
        }
        for (int i = 0; i < EDGES; i++) {
            int from = random.nextInt(VERTICES - 1);
            int to = from + 1 + random.nextInt(VERTICES - from - 1);
            DefaultWeightedEdge edge = graph.addEdge(names[from], names[to]);
            if (edge != null) {
                graph.setEdgeWeight(edge, 1 + random.nextInt(20));
            }
        }
        long sum = 0;
        TopologicalOrderIterator<String, DefaultWeightedEdge> order = new TopologicalOrderIterator<>(graph);
        while (order.hasNext()) {
            sum = sum * 31 + order.next().length();
        }
        DijkstraShortestPath<String, DefaultWeightedEdge> paths = new DijkstraShortestPath<>(graph);
        for (int i = 0; i < 4; i++) {
            sum = sum * 31 + Math.round(paths.getPaths(names[i]).getWeight(names[VERTICES - 1 - i]) % 1e6);
        }
        sum = sum * 31 + new KosarajuStrongConnectivityInspector<>(graph).stronglyConnectedSets().size();
        sum = sum * 31 + Math.round(
                new KruskalMinimumSpanningTree<>(new AsUndirectedGraph<>(graph)).getSpanningTree().getWeight());
        sum = sum * 31 + Math.round(1e6 * new PageRank<>(graph, 0.85, 10, 1e-6).getVertexScore(names[7]));
        for (String name : (Iterable<String>) () -> new BreadthFirstIterator<>(graph, names[0])) {
            sum = sum * 31 + graph.outDegreeOf(name);
        }
        for (int i = 0; i < VERTICES; i += 3) {
            graph.removeVertex(names[i]);
        }
        return sum * 31 + graph.edgeSet().size();
    }
}
