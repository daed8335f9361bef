class Article {
    String name
    int count
    String shelf
}

class Warehouse {
    private final Map<String, Article> articles = [:]

    void put(String name, int count, String shelf = null) {
        def article = articles.computeIfAbsent(name) { new Article(name: it, shelf: shelf) }
        article.count += count
    }

    String aisle(String name) {
        def article = articles[name]
        article.shelf.substring(0, 1)
    }

    Map<String, Integer> byAisle() {
        def sums = new TreeMap<String, Integer>()
        articles.values().each { sums.merge(aisle(it.name), it.count) { a, b -> a + b } }
        sums
    }
}

def warehouse = new Warehouse()
['nails A1 500', 'screws A2 120', 'glue C4 16', 'nails A1 80', 'tape 12', 'paint B1 40'].each { line ->
    def words = line.split(' ')
    if (words.size() == 3) {
        warehouse.put(words[0], words[2] as int, words[1])
    } else {
        warehouse.put(words[0], words[1] as int)
    }
}
println warehouse.aisle('glue')
println warehouse.byAisle()
