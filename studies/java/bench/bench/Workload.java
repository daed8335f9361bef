package bench;

/** One iteration of steady work. The same iteration always does the same and gives the same sum. */
interface Workload {
    long iteration(int number) throws Exception;
}
