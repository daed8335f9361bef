# input: pom.xml
# language: XML
# fault: org.json 20231013 reads the version 1.30 in the POM of Spring Boot's dependencies 2.7.18 as the number 1.3
. "${0%/*}/common.sh"
case $1 in
fetch)
    cp "$(jar org.springframework.boot:spring-boot-dependencies:2.7.18:pom)" "$2/pom.xml"
    program "$2" Versions "$(jar org.json:json:20231013)"
    ;;
start) resident "$2" ;;
test) ask "$2" ;;
esac
